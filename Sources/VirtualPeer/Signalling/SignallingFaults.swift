public import CallCore

/// What a scenario does to signalling messages on their way through the server.
public struct SignallingFault: Hashable, Sendable {
  public enum Effect: Hashable, Sendable {
    case drop
    case delay(Interval)
    case duplicate
    /// Held until the next message to the same user has passed it, or for one second.
    case reorder
    /// One character of the message is replaced.
    case corrupt
  }

  public var effect: Effect
  /// Only messages of this type, from this user, to this user; nil matches all.
  public var type: String?
  public var from: String?
  public var to: String?
  /// How many matching messages it still affects; nil for all while it lasts.
  public var remaining: Int?

  public init(_ effect: Effect, type: String? = nil, from: String? = nil, to: String? = nil, count: Int? = nil) {
    self.effect = effect
    self.type = type
    self.from = from
    self.to = to
    remaining = count
  }

  func matches(_ message: SignallingMessage) -> Bool {
    (type == nil || type == message.type) && (from == nil || from == message.from) && (to == nil || to == message.to)
      && remaining != 0
  }
}

/// One message as it passes a signalling server.
public struct SignallingMessage: Hashable, Sendable {
  public var type: String
  public var from: String
  public var to: String
  public var text: String

  public init(type: String, from: String, to: String, text: String) {
    self.type = type
    self.from = from
    self.to = to
    self.text = text
  }
}

/// The active signalling faults of one server. Every profile's server passes its messages through one of these.
public final class SignallingFaults {
  public typealias ID = Int

  private var faults: [(id: ID, fault: SignallingFault)] = []
  private var held: [Held] = []
  private var refused: [String] = []
  private var nextID: ID = 1

  /// A message that waits to be overtaken.
  private struct Held {
    let message: SignallingMessage
    let deliver: (SignallingMessage) -> Void
    let timer: PeerTimer
    let id: ID
  }

  private static let longestHold = Interval.seconds(1)
  private let clock: PeerClock
  private let trace: Trace
  private let subject: TraceSubject
  private let applied: TraceKind

  package init(clock: PeerClock, trace: Trace, subject: String) {
    self.clock = clock
    self.trace = trace
    self.subject = trace.subject(subject)
    applied = trace.declare(
      "signal.faulted", TraceField("effect", .symbol), TraceField("type", .symbol), TraceField("from", .symbol),
      TraceField("to", .symbol))
  }

  @discardableResult
  public func add(_ fault: SignallingFault) -> ID {
    defer { nextID += 1 }
    faults.append((nextID, fault))
    return nextID
  }

  public func remove(_ id: ID) { faults.removeAll { $0.id == id } }

  /// Whether connections of this user are dropped as soon as they say whose they are.
  public func refuses(_ user: String) -> Bool { refused.contains(user) }

  package func setRefused(_ user: String, _ refuses: Bool) {
    refused.removeAll { $0 == user }
    if refuses { refused.append(user) }
  }

  public func removeAll() { faults.removeAll() }

  /// Passes `message` on to `deliver`: now, later, twice, changed or never.
  public func pass(_ message: SignallingMessage, deliver: @escaping (SignallingMessage) -> Void) {
    let overtaken = held.filter { $0.message.to == message.to }
    held.removeAll { $0.message.to == message.to }
    defer {
      for late in overtaken {
        late.timer.cancel()
        late.deliver(late.message)
      }
    }
    guard let index = faults.firstIndex(where: { $0.fault.matches(message) }) else {
      deliver(message)
      return
    }
    faults[index].fault.remaining = faults[index].fault.remaining.map { $0 - 1 }
    let effect = faults[index].fault.effect
    trace.write(
      applied, subject, trace.value(Self.name(of: effect)), trace.value(message.type), trace.value(message.from),
      trace.value(message.to))
    switch effect {
    case .drop: break
    case .delay(let interval): clock.schedule(after: interval) { deliver(message) }
    case .duplicate:
      deliver(message)
      deliver(message)
    // One that overtakes is not held in its turn, or nothing would change places.
    case .reorder where !overtaken.isEmpty: deliver(message)
    case .reorder: hold(message, deliver)
    case .corrupt:
      var damaged = message
      var characters = Array(message.text)
      if !characters.isEmpty { characters[characters.count / 2] = "\u{FFFD}" }
      damaged.text = String(characters)
      deliver(damaged)
    }
  }

  private func hold(_ message: SignallingMessage, _ deliver: @escaping (SignallingMessage) -> Void) {
    let id = nextID
    nextID += 1
    let timer = clock.schedule(after: Self.longestHold) { [weak self] in
      self?.held.removeAll { $0.id == id }
      deliver(message)
    }
    held.append(Held(message: message, deliver: deliver, timer: timer, id: id))
  }

  private static func name(of effect: SignallingFault.Effect) -> String {
    switch effect {
    case .drop: "drop"
    case .delay: "delay"
    case .duplicate: "duplicate"
    case .reorder: "reorder"
    case .corrupt: "corrupt"
    }
  }
}
