package import CallCore
internal import Vocabulary

/// The active signalling faults of one server; ``SignallingTap`` applies them to every frame.
package final class SignallingFaults {
  package typealias ID = Int

  /// One direction of one socket: a frame can overtake another only within it.
  package struct Lane: Hashable {
    let socket: Int
    let isToClient: Bool
  }

  private var faults: [(id: ID, fault: SignallingFault)] = []
  /// The messages that wait to be passed.
  private var waiting: [Waiting] = []
  private var nextID: ID = 1
  /// The number of messages that have come to each lane.
  private var arrivals: [Lane: Int] = [:]
  /// The number of frames that each fault has met, also after its end.
  private var counts: [ID: Int] = [:]
  /// Why a frame that a fault was for does not show it.
  private var misses: [ID: Miss] = [:]
  /// What faults hold and have released.
  private var holds = HeldMessages()
  /// The codec that faults of single fields use.
  var codec: SignallingCodec?
  /// The messages so far; nil unless something in the run takes fields from them.
  private(set) var log: MessageLog?
  /// Called when a black hole opens, and when the last one closes.
  var onSilence: ((_ isSilent: Bool) -> Void)?

  /// Why a frame does not show what a fault did.
  package enum Miss {
    /// Another fault took the frame.
    case taken
    /// Other faults made the same change, wrote over it or undid it.
    case overwritten
    /// The connection of the frame was over.
    case undeliverable
  }

  /// A message that waits to be passed, and the way on.
  private struct Waiting {
    let number: Int
    let passage: SignallingPassage
    let timer: PeerTimer
    let isPassed: () -> Void
  }

  private let clock: PeerClock
  private let trace: Trace
  private let subject: TraceSubject

  package init(clock: PeerClock, trace: Trace, subject: String) {
    self.clock = clock
    self.trace = trace
    self.subject = trace.subject(subject)
  }

  /// Whether nothing passes.
  package var isSilent: Bool { faults.contains { $0.fault.isTotal } }

  /// Whether all frames pass unchanged, so that decoding them is unnecessary.
  var isIdle: Bool { faults.isEmpty && waiting.isEmpty }

  /// Keeps the messages that pass from now on.
  package func keepLog() { if log == nil { log = MessageLog() } }

  /// Called for each message that passes the server.
  package var onMessage: ((SignallingMessage) -> Void)?

  func record(_ message: SignallingMessage) {
    log?.record(message, codec?.declaration(of: message.type))
    onMessage?(message)
  }

  @discardableResult
  package func add(_ fault: SignallingFault) -> ID {
    defer { nextID += 1 }
    change { faults.append((nextID, fault)) }
    return nextID
  }

  /// Returns the number of frames that a fault has met so far, also after its end.
  package func meetings(of id: ID) -> Int { counts[id] ?? 0 }

  /// Returns why the last frame that a fault was for, and that does not show it, does not; nil if there is none.
  package func miss(of id: ID) -> Miss? { misses[id] }

  /// Returns a message that keeps a fault from being complete; see ``HeldMessages/held(by:before:)``.
  ///
  /// - Parameter limit: what is held from then on does not count; nil to count all.
  package func held(by id: ID, before limit: Instant? = nil) -> (message: SignallingMessage, until: Instant)? {
    holds.held(by: id, before: limit)
  }

  /// Returns the latest time at which the last of what a fault holds leaves, other faults included; nil if
  /// it holds nothing that is awaited.
  package func heldUntil(by id: ID) -> Instant? {
    holds.latest(heldBy: id) { message, nextFault in
      faults.filter { $0.id >= nextFault && $0.fault.matches(message) }.reduce(.zero) {
        $0 + $1.fault.effect.longestHold
      }
    }
  }

  package func remove(_ id: ID) { change { faults.removeAll { $0.id == id } } }

  package func removeAll() { change { faults.removeAll() } }

  private func change(_ body: () -> Void) {
    let wasSilent = isSilent
    body()
    if isSilent != wasSilent { onSilence?(isSilent) }
  }

  /// Passes `message` on to `deliver`: now, later, twice, changed or never. What a fault has held meets the faults that
  /// have begun since.
  ///
  /// - Parameters:
  ///   - isOpen: Returns whether the connection can take it.
  ///   - deliver: Returns whether the connection took it.
  ///   - lost: Called when a fault takes it, now or later.
  package func pass(
    _ message: SignallingMessage, on lane: Lane, isOpen: @escaping () -> Bool = { true },
    deliver: @escaping (SignallingMessage) -> Bool, lost: @escaping () -> Void = {}
  ) {
    arrivals[lane, default: 0] += 1
    let exit = SignallingPassage.Exit(isOpen: isOpen, deliver: deliver, lost: lost)
    proceed(
      message,
      SignallingPassage(
        lane: lane, number: arrivals[lane] ?? 0, original: message, arrived: clock.now,
        exit: exit))
  }

  /// Lets a message meet the faults that it has not met yet.
  private func proceed(_ message: SignallingMessage, _ passage: SignallingPassage) {
    var passage = passage
    let effects = meet(message, passage)
    passage.nextFault = nextID
    guard passage.exit.isOpen() else {
      for meeting in effects { misses[meeting.id] = .undeliverable }
      return leave(message, passage)
    }
    if let taker = effects.last, taker.effect.isLoss {
      counts[taker.id, default: 0] += 1
      for fault in passage.faults + effects.dropLast().map(\.id) { misses[fault] = .taken }
      return passage.exit.lost()
    }
    carryOut(effects[...], on: message, passage)
  }

  private typealias Meeting = (id: ID, effect: SignallingFault.Effect)

  /// Returns what the faults do to a message; nothing follows a loss.
  private func meet(_ message: SignallingMessage, _ passage: SignallingPassage) -> [Meeting] {
    var meetings: [Meeting] = []
    // Each fault acts on what the older ones leave.
    var current = message
    for index in faults.indices where faults[index].id >= passage.nextFault && faults[index].fault.matches(message) {
      let (id, effect) = (faults[index].id, faults[index].fault.effect)
      // Each fault adds one copy: copies of copies would be without number.
      if effect == .duplicate, passage.isCopy {
        misses[id] = .overwritten
        continue
      }
      let isTaken = meetings.last?.effect.isLoss ?? false
      let isMeant = !isTaken && applies(effect, to: current, passage.original)
      guard isMeant || applies(effect, to: message, passage.original) else { continue }
      // A frame that an older fault takes counts too, so that the frames this fault meets do not depend on other
      // faults.
      faults[index].fault.remaining = faults[index].fault.remaining.map { $0 - 1 }
      guard isMeant else {
        misses[id] = isTaken ? .taken : .overwritten
        continue
      }
      meetings.append((id, effect))
      tell(effect, message)
      if let change = change(of: current, by: effect, passage.original) { current = change(current) }
    }
    return meetings
  }

  /// Returns whether an effect does something to a message; one on a field applies only to messages with this field.
  ///
  /// - Parameter original: the message as it came to the server.
  private func applies(
    _ effect: SignallingFault.Effect, to message: SignallingMessage, _ original: SignallingMessage
  ) -> Bool {
    switch effect {
    case .damage(let field): return codec?.field(field, of: message) != nil
    case .set(let field, let text):
      guard let path = codec?.field(field, of: message) else { return false }
      // To set what is there already is no damage.
      let value = value(text, of: field, in: message)
      return message.content?.values(at: path).contains { $0 != value } ?? false
    case .mutate(.description(.inlineCandidates)):
      // The candidates come later.
      return message.content.map { codec?.values(of: .description, in: $0).isEmpty == false } ?? false
    case .mutate: return change(of: message, by: effect, original).map { $0(message) != message } ?? false
    case .drop, .delay, .duplicate, .reorder, .corrupt, .mutateFrame, .blackhole: return true
    }
  }

  /// Applies faults to a message, the oldest first: each fault gets the output of the one before.
  private func carryOut(
    _ meetings: ArraySlice<Meeting>, on message: SignallingMessage, _ passage: SignallingPassage
  ) {
    guard let (id, effect) = meetings.first else {
      // Faults have begun while it was held.
      if passage.nextFault < nextID { return proceed(message, passage) }
      return leave(message, passage)
    }
    let rest = meetings.dropFirst()
    switch effect {
    case .drop, .blackhole: break
    case .delay:
      hold(message, for: id, effect, rest, passage) { [self] _ in
        // It is as late wherever it comes: to another fault, or to a connection that is over by now.
        counts[id, default: 0] += 1
        carryOut(rest, on: message, passage)
      }
    case .duplicate:
      let duplication = SignallingPassage.Duplication(fault: id)
      for isCopy in [false, true] {
        var passage = passage
        passage.duplications.append((duplication, isCopy))
        carryOut(isCopy ? rest.filter { $0.effect != .duplicate }[...] : rest, on: message, passage)
      }
    case .reorder:
      // An overtaking frame is not held itself, or the two would not change places.
      if waiting.contains(where: { passage.passes($0.passage) }) { return carryOut(rest, on: message, passage) }
      let (number, timer) = hold(message, for: id, effect, rest, passage) { [self] number in
        waiting.removeAll { $0.number == number }
        carryOut(rest, on: message, passage)
      }
      waiting.append(
        Waiting(number: number, passage: passage, timer: timer) { [self] in
          holds.letGo(number, heldBy: id)
          var passage = passage
          passage.reorderings.append(id)
          carryOut(rest, on: message, passage)
        })
    case .mutate(.description(.inlineCandidates)):
      hold(message, for: id, effect, rest, passage) { [self] _ in change(message, by: id, effect, rest, passage) }
    case .corrupt, .damage, .set, .mutate, .mutateFrame: change(message, by: id, effect, rest, passage)
    }
  }

  private func change(
    _ message: SignallingMessage, by id: ID, _ effect: SignallingFault.Effect, _ rest: ArraySlice<Meeting>,
    _ passage: SignallingPassage
  ) {
    guard let change = change(of: message, by: effect, passage.original) else {
      return carryOut(rest, on: message, passage)
    }
    let changed = change(message)
    var passage = passage
    if changed != message {
      passage.changes.append(.init(fault: id, make: change))
    } else if effect != .mutate(.description(.inlineCandidates)) {
      misses[id] = .overwritten
    }
    carryOut(rest, on: changed, passage)
  }

  /// Holds a message for the time of an effect.
  @discardableResult
  private func hold(
    _ message: SignallingMessage, for id: ID, _ effect: SignallingFault.Effect, _ rest: ArraySlice<Meeting>,
    _ passage: SignallingPassage, then release: @escaping (_ number: Int) -> Void
  ) -> (number: Int, timer: PeerTimer) {
    let time = effect.longestHold
    let number = holds.keep(
      .init(
        message: passage.original, since: passage.arrived, until: clock.now + time,
        further: rest.reduce(.zero) { $0 + $1.effect.longestHold },
        nextFault: passage.nextFault),
      heldBy: id)
    let timer = clock.schedule(after: time) { [self] in
      holds.letGo(number, heldBy: id)
      release(number)
    }
    return (number, timer)
  }

  /// Sends a message that has met every fault, and counts the faults that it shows.
  private func leave(_ message: SignallingMessage, _ passage: SignallingPassage) {
    guard passage.exit.deliver(message) else {
      for fault in passage.faults { misses[fault] = .undeliverable }
      return
    }
    let unchanged = passage.changes.isEmpty ? nil : codec?.rewrite(passage.original) { _ in }
    let shown = passage.faultsShown(by: message.text, unchanged: (unchanged ?? passage.original).text)
    for change in passage.changes where !shown.contains(change.fault) { misses[change.fault] = .overwritten }
    let doubled = passage.duplications.filter { $0.duplication.left(isCopy: $0.isCopy) }
    for fault in shown + passage.reorderings + doubled.map(\.duplication.fault) { counts[fault, default: 0] += 1 }
    let overtaken = waiting.filter { passage.passes($0.passage) }
    waiting.removeAll { passage.passes($0.passage) }
    for late in overtaken {
      late.timer.cancel()
      late.isPassed()
    }
  }

  /// Returns what an effect makes of messages at once; nil if it changes none. The values that it takes from other
  /// messages are those of now.
  ///
  /// - Parameter original: the message as it came to the server, whose call and users decide what those values are.
  private func change(
    of message: SignallingMessage, by effect: SignallingFault.Effect, _ original: SignallingMessage
  ) -> ((SignallingMessage) -> SignallingMessage)? {
    switch effect {
    case .corrupt: return { [self] in with(MessageContent.damaged($0.text), in: $0) }
    case .mutateFrame(let mutation): return { [self] in with(mutation.mutate($0.text), in: $0) }
    case .damage(let field): return { [self] in changed($0, field) { $0.damage($1) } }
    case .set(let field, let text):
      let value = value(text, of: field, in: message)
      return { [self] in changed($0, field) { $0.replace(at: $1) { _ in value } } }
    case .mutate(let mutation):
      guard let codec, let declaration = codec.declaration(of: message.type) else { return nil }
      let context = (log ?? MessageLog()).context(of: original, declaration)
      let named = mutation.naming { declaration.field($0)?.name ?? $0 }
      return { message in
        message.content.flatMap { declaration.mutate($0, by: named, context) }.map { changed in
          codec.rewrite(message) { $0 = changed }
        } ?? message
      }
    case .drop, .delay, .duplicate, .reorder, .blackhole: return nil
    }
  }

  /// Returns the message with another text, which may not be a message any more.
  private func with(_ text: String, in message: SignallingMessage) -> SignallingMessage {
    var changed = message
    changed.text = text
    changed.content = message.content == nil ? nil : codec?.content(of: text)
    return changed
  }

  /// Returns the value of a field that a fault writes, as the field's declaration types it.
  private func value(_ text: String, of field: String, in message: SignallingMessage) -> JSON {
    let type = codec?.declaration(of: message.type)?.field(field)?.type ?? .string
    return type.value(text) ?? .string(text)
  }

  private func changed(
    _ message: SignallingMessage, _ field: String, _ change: (inout MessageContent, String) -> Void
  ) -> SignallingMessage {
    guard let codec, let path = codec.field(field, of: message) else { return message }
    return codec.rewrite(message) { change(&$0, path) }
  }

  /// Counts what is no frame and a total black hole hides, such as an upgrade: only such a fault meets it.
  func hidden(_ type: String) {
    guard let blackhole = faults.first(where: { $0.fault.isTotal }) else { return }
    counts[blackhole.id, default: 0] += 1
    tell(.blackhole, SignallingMessage(type: type, from: nil, to: nil, text: ""))
  }

  /// Counts a frame that a black hole drops: it has met the oldest fault that drops it.
  ///
  /// - Parameter isMet: Whether faults of the frame's type apply here, too; they meet each message once.
  func swallowed(_ message: SignallingMessage, isMet: Bool) {
    var taking: SignallingFault.Effect?
    for index in faults.indices where faults[index].fault.isTotal || faults[index].fault.matches(message) {
      let (id, effect) = (faults[index].id, faults[index].fault.effect)
      guard isMet || faults[index].fault.isTotal else {
        // The frame never reaches the place where this fault would have met it.
        misses[id] = .taken
        continue
      }
      faults[index].fault.remaining = faults[index].fault.remaining.map { $0 - 1 }
      if taking == nil, effect.isLoss {
        counts[id, default: 0] += 1
        taking = effect
      } else {
        misses[id] = .taken
      }
    }
    tell(taking ?? .blackhole, message)
  }

  private func tell(_ effect: SignallingFault.Effect, _ message: SignallingMessage) {
    trace.write(
      ServerEvents.messageFaulted, subject, Self.name(of: effect), message.type, message.from ?? Self.server,
      message.to ?? Self.server)
  }

  /// The name of the server's end in traces, in place of a user.
  static let server = "server"

  private static func name(of effect: SignallingFault.Effect) -> String {
    switch effect {
    case .drop: "drop"
    case .delay: "delay"
    case .duplicate: "duplicate"
    case .reorder: "reorder"
    case .corrupt, .damage, .set, .mutate, .mutateFrame: "corrupt"
    case .blackhole: "blackhole"
    }
  }
}
