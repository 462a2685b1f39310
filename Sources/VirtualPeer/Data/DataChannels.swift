package import CallCore
public import PeerSession
internal import SCTP
internal import Vocabulary

/// A data channel that a scenario declares for a peer.
public struct DeclaredDataChannel: Sendable {
  /// The label.
  public var label: String
  /// The settings.
  public var settings: DataChannelInit
  /// Whether it is created with the peer connection, and not by an action.
  public var opensWithCall: Bool

  /// Declares a channel.
  public init(_ label: String, _ settings: DataChannelInit = DataChannelInit(), opensWithCall: Bool = true) {
    (self.label, self.settings, self.opensWithCall) = (label, settings, opensWithCall)
  }
}

/// The data channels of a device: creates those that the scenario declares, sends its messages, and follows what comes.
package final class DataChannels {
  /// One end of a channel of a connection that is open.
  private final class End {
    weak var connection: (any PeerConnection)?
    let subject: TraceSubject
    let id: DataChannelID
    let label: String
    let account: DataChannelLedger.End
    let events: ChannelEvents
    var state = DataChannelState.closed
    var (sent, received, overtaken, missing) = (0, 0, 0, 0)
    var closesItself = false

    init(
      _ connection: any PeerConnection, _ subject: TraceSubject, _ id: DataChannelID, _ label: String,
      _ account: DataChannelLedger.End, _ events: ChannelEvents
    ) {
      (self.connection, self.subject, self.id, self.label) = (connection, subject, id, label)
      (self.account, self.events) = (account, events)
    }
  }

  /// The kinds of trace events under a label.
  private struct ChannelEvents {
    let state: TraceEvent<String, String>
    let (sent, received, overtaken, missing): (TraceEvent<Int>, TraceEvent<Int>, TraceEvent<Int>, TraceEvent<Int>)
    let latency: TraceEvent<Interval>
    let text: TraceEvent<String>

    init(_ label: String) {
      state = DataChannelEvents.state(of: label)
      sent = DataChannelEvents.count("sent", of: label)
      received = DataChannelEvents.count("received", of: label)
      overtaken = DataChannelEvents.count("overtaken", of: label)
      missing = DataChannelEvents.count("missing", of: label)
      latency = DataChannelEvents.latency(of: label)
      text = DataChannelEvents.text(of: label)
    }
  }

  private let owner: String
  private let declared: [DeclaredDataChannel]
  /// The labels of the scenario, with their kinds of events.
  private let events: [String: ChannelEvents]
  private let ledger: DataChannelLedger
  private let clock: PeerClock
  private let trace: Trace
  private var ends: [End] = []
  /// Messages that are sent one after the other.
  private var timers: [Int: PeerTimer] = [:]
  private var nextTimer = 0
  private var madeUp = 0

  package init(
    of owner: String, declared: [DeclaredDataChannel], labels: [String], ledger: DataChannelLedger, clock: PeerClock,
    trace: Trace
  ) {
    (self.owner, self.declared, self.ledger, self.clock, self.trace) = (owner, declared, ledger, clock, trace)
    events = Dictionary(uniqueKeysWithValues: labels.map { ($0, ChannelEvents($0)) })
  }

  // MARK: Connections

  /// Creates the channels that open with a connection.
  func begin(_ connection: any PeerConnection, subject: String) {
    for channel in declared where channel.opensWithCall {
      do throws(SessionError) {
        try create(channel, on: connection, subject)
      } catch {
        trace.write(DataChannelEvents.unsent, trace.subject(subject), channel.label, 0, "\(error)")
      }
    }
  }

  private func create(
    _ channel: DeclaredDataChannel, on connection: any PeerConnection, _ subject: String
  ) throws(SessionError) {
    let id = try connection.createDataChannel(channel.label, channel.settings)
    add(id, channel.label, to: connection, subject)
  }

  private func add(_ id: DataChannelID, _ label: String, to connection: any PeerConnection, _ subject: String) {
    guard let events = events[label] else { return }
    let account = ledger.begin(label, of: owner, over: subject)
    let end = End(connection, trace.subject(subject), id, label, account, events)
    ends.append(end)
    for count in [events.sent, events.received, events.missing, events.overtaken] { trace.write(count, end.subject, 0) }
    change(end, to: .connecting)
    // It may have opened while it was being created.
    let state = connection.dataChannels.first { $0.channel == id }?.readyState
    if let state, state != .connecting { change(end, to: state) }
  }

  /// Follows an event of a connection.
  func follow(_ event: SessionEvent, of connection: any PeerConnection, subject: String) {
    switch event {
    case .dataChannel(let channel): add(channel.channel, channel.label, to: connection, subject)
    case .dataChannelStateChange(let id, let state):
      if let end = end(id, of: connection), end.state != state { change(end, to: state) }
    case .dataChannelError(let id, _):
      if let end = end(id, of: connection) { (end.closesItself, end.account.hasFailed) = (true, true) }
    case .dataChannelMessage(let id, let message):
      if let end = end(id, of: connection) { receive(message, on: end) }
    default: break
    }
  }

  private func end(_ id: DataChannelID, of connection: any PeerConnection) -> End? {
    ends.first { $0.connection === connection && $0.id == id }
  }

  /// Ends the channels of a connection that was closed: it reports nothing any more.
  func closed(_ connection: any PeerConnection) {
    for end in ends where end.connection === connection { change(end, to: .closed) }
    ends.removeAll { $0.state == .closed || $0.connection == nil }
  }

  private func change(_ end: End, to state: DataChannelState) {
    let old = end.state
    end.state = state
    trace.write(end.events.state, end.subject, state.rawValue, old.rawValue)
    if state == .closing, !end.closesItself {
      trace.write(DataChannelEvents.closedByPeer, end.subject, end.label, ledger.missing(at: end.account))
    }
    guard state == .closed else { return }
    end.account.isOver = true
    ends.removeAll { $0 === end }
  }

  // MARK: Messages

  private func receive(_ message: DataChannelMessage, on end: End) {
    let delivery = ledger.receive(message, on: end.account, at: clock.now)
    let subject = end.subject
    trace.write(
      DataChannelEvents.delivered, subject, end.label, delivery.number, delivery.verdict.rawValue)
    if let latency = delivery.latency { trace.write(end.events.latency, subject, latency) }
    if case .string(let text) = message { trace.write(end.events.text, subject, String(text.prefix(1_000))) }
    if delivery.verdict == .late {
      end.overtaken += 1
      trace.write(end.events.overtaken, subject, end.overtaken)
    }
    if delivery.missing != end.missing {
      end.missing = delivery.missing
      trace.write(end.events.missing, subject, end.missing)
    }
    end.received += 1
    trace.write(end.events.received, subject, end.received)
  }

  private func send(_ content: (Int) -> DataChannelMessage, _ number: Int, on ends: [End]) throws(ActionError) {
    let message = content(number)
    for end in ends {
      guard let connection = end.connection else { throw ActionError("the connection is closed") }
      do throws(SessionError) {
        try connection.send(message, on: end.id)
      } catch {
        throw ActionError("\(error)")
      }
      ledger.send(message, on: end.account, at: clock.now)
      end.sent += 1
      trace.write(end.events.sent, end.subject, end.sent)
    }
  }

  /// Sends the message after the present one, and so on to the last.
  private func sendRest(
    _ content: @escaping (Int) -> DataChannelMessage, from number: Int, of count: Int, every interval: Interval,
    on ends: [End]
  ) {
    guard number <= count else { return }
    let key = nextTimer
    nextTimer += 1
    timers[key] = clock.schedule(after: interval) { [unowned self] in
      timers[key] = nil
      do throws(ActionError) {
        try send(content, number, on: ends)
      } catch {
        let subject = ends.first?.subject ?? trace.subject(owner)
        let label = ends.first?.label ?? ""
        trace.write(DataChannelEvents.unsent, subject, label, count - number + 1, error.reason)
        return
      }
      sendRest(content, from: number + 1, of: count, every: interval, on: ends)
    }
  }

  // MARK: Actions

  /// Performs an action on data channels.
  ///
  /// - Parameter connections: the open connections with their trace subjects.
  func perform(
    _ action: UserAction, on connections: [(subject: String, connection: any PeerConnection)]
  ) throws(ActionError) {
    let label = action.values.text("channel") ?? ""
    if action.name == DataChannelVocabulary.open.name { return try open(label, on: connections) }
    let ends = ends.filter { $0.label == label }
    guard !ends.isEmpty else { throw ActionError("there is no data channel '\(label)'") }
    if action.name == DataChannelVocabulary.close.name {
      for end in ends {
        end.closesItself = true
        end.connection?.closeDataChannel(end.id)
      }
      return
    }
    let count = Int(action.values.count("messages") ?? 1)
    let content = content(of: action, count)
    try send(content, 1, on: ends)
    if let interval = action.values.duration("interval") {
      return sendRest(content, from: 2, of: count, every: interval, on: ends)
    }
    for number in 1..<count { try send(content, number + 1, on: ends) }
  }

  private func open(
    _ label: String, on connections: [(subject: String, connection: any PeerConnection)]
  ) throws(ActionError) {
    guard let channel = declared.first(where: { $0.label == label }) else {
      throw ActionError("'\(label)' is not declared")
    }
    guard !connections.isEmpty else { throw ActionError("there is no connection") }
    for (subject, connection) in connections {
      guard !ends.contains(where: { $0.label == label && $0.connection === connection }) else {
        throw ActionError("the data channel '\(label)' is open")
      }
      do throws(SessionError) {
        try create(channel, on: connection, subject)
      } catch {
        throw ActionError("\(error)")
      }
    }
  }

  /// Returns what makes the messages of an action, by their number.
  private func content(of action: UserAction, _ count: Int) -> (Int) -> DataChannelMessage {
    if let text = action.values.text("text") { return { .string(count == 1 ? text : "\(text) \($0)") } }
    var size = 0
    if case .byteSize(let bytes)? = action.values["bytes"] { size = Int(bytes) }
    return { [unowned self] _ in
      madeUp += 1
      return .binary(Self.bytes(size, seed: FNV1a.hash(of: "\(owner) \(madeUp)")))
    }
  }

  /// Makes bytes up: different ones for each message, so that one is not taken for another.
  private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  }

  // MARK: End

  /// Whether messages wait for their time.
  package var isSending: Bool { !timers.isEmpty }

  /// Returns, for each live reliable channel, the messages that were sent before a time and have not come.
  package func overdue(before time: Instant) -> [(label: String, count: Int)] {
    ends.compactMap { end in
      guard end.state == .open, end.connection?.connectionState == .connected,
        let settings = end.connection?.dataChannels.first(where: { $0.channel == end.id }),
        settings.maxRetransmits == nil, settings.maxPacketLifeTime == nil
      else { return nil }
      let count = ledger.overdue(of: end.account, before: time)
      return count > 0 ? (end.label, count) : nil
    }
  }

  func shutDown() {
    for timer in timers.values { timer.cancel() }
    timers = [:]
  }
}
