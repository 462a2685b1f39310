public import CallCore
public import Vocabulary

/// A fault that a scenario applies to signalling at the server's end of the WebSockets.
public struct SignallingFault: Hashable, Sendable {
  /// The effect on a matching frame.
  public enum Effect: Hashable, Sendable {
    case drop
    case delay(Interval)
    case duplicate
    /// Held until the next frame on the same socket in the same direction has passed it, or for one second.
    case reorder
    /// One character of the text is replaced.
    case corrupt
    /// One field, given by its name or its role, is damaged.
    case damage(field: String)
    /// One field, given by its name or its role, gets the value that the text stands for.
    case set(field: String, String)
    /// The message is mutated by its declaration.
    case mutate(MessageMutation)
    /// The text is mutated, whatever it holds.
    case mutateFrame(FrameMutation)
    /// Lost, while the connections seem to be open. Without a type and users this includes upgrades and closings.
    case blackhole

    /// Whether the frame does not leave at once.
    var holds: Bool {
      switch self {
      case .delay, .reorder, .mutate(.description(.inlineCandidates)): true
      case .drop, .duplicate, .corrupt, .damage, .set, .mutate, .mutateFrame, .blackhole: false
      }
    }

    /// Whether a message is met after it was held: one when another has passed it, the other when candidates have come.
    var isMetLater: Bool { self == .reorder || self == .mutate(.description(.inlineCandidates)) }

    /// Whether the text becomes another.
    var isCorruption: Bool {
      switch self {
      case .corrupt, .damage, .set, .mutate, .mutateFrame: true
      case .drop, .delay, .duplicate, .reorder, .blackhole: false
      }
    }
  }

  /// The effect on each matching frame.
  public var effect: Effect
  /// The type of the frames; nil matches all, pings and connects included.
  public var type: String?
  /// The user that sends the frames; nil matches all.
  public var from: String?
  /// The user that receives the frames; nil matches all.
  public var to: String?
  /// The number of matching frames left, including those that an older fault drops; nil for no limit.
  public var remaining: Int?

  /// Creates a fault for the next `count` matching frames; nil for all.
  public init(_ effect: Effect, type: String? = nil, from: String? = nil, to: String? = nil, count: Int? = nil) {
    self.effect = effect
    self.type = type
    self.from = from
    self.to = to
    remaining = count
  }

  /// Whether nothing passes, in either direction.
  var isTotal: Bool { effect == .blackhole && type == nil && from == nil && to == nil }

  func matches(_ message: SignallingMessage) -> Bool {
    (type == nil || type == message.type) && (from == nil || from == message.from) && (to == nil || to == message.to)
      && remaining != 0
  }
}

/// One text frame at the signalling server.
public struct SignallingMessage: Hashable, Sendable {
  /// The type in scenarios, or the profile's name for a transport frame, such as `ping`.
  public var type: String
  /// The sending user; nil if the server itself sends it, or does not know the client's user yet.
  public var from: String?
  /// The receiving user; nil if the message is for the server.
  public var to: String?
  /// The text of the frame.
  public var text: String
  /// The decoded message; nil for a transport frame.
  public var content: MessageContent?

  /// Creates a message.
  public init(type: String, from: String?, to: String?, text: String, content: MessageContent? = nil) {
    self.content = content
    self.type = type
    self.from = from
    self.to = to
    self.text = text
  }
}

/// The active signalling faults of one server; ``SignallingTap`` applies them to every frame.
package final class SignallingFaults {
  package typealias ID = Int

  /// One direction of one socket: a frame can overtake another only within it.
  package struct Lane: Hashable {
    let socket: Int
    let isToClient: Bool
  }

  private var faults: [(id: ID, fault: SignallingFault)] = []
  private var held: [Held] = []
  private var nextID: ID = 1
  /// The number of frames that each fault has met, also after its end.
  private var counts: [ID: Int] = [:]
  /// The faults that missed a frame because an older fault took it.
  private var forestalled: Set<ID> = []
  /// What delaying faults hold and have released.
  private var delayed = HeldMessages()
  /// The codec that faults of single fields use.
  var codec: SignallingCodec?
  /// The messages so far; nil unless something in the run takes fields from them.
  private(set) var log: MessageLog?
  /// Called when a black hole opens, and when the last one closes.
  var onSilence: ((_ isSilent: Bool) -> Void)?

  /// The ways out of the faults.
  private struct Exit {
    let deliver: (SignallingMessage) -> Void
    let lost: () -> Void
    /// The first fault that has begun since the message was held; nil if it was not.
    var since: ID?
  }

  /// A frame that waits to be overtaken.
  private struct Held {
    let lane: Lane
    let message: SignallingMessage
    let deliver: (SignallingMessage) -> Void
    let timer: PeerTimer
    let id: ID
    let fault: ID
  }

  private static let longestHold = Interval.seconds(1)
  /// The time that a description waits for the candidates that are put into it.
  private static let candidateTime = Interval.milliseconds(500)
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
  var isIdle: Bool { faults.isEmpty && held.isEmpty }

  /// Keeps the messages that pass from now on.
  package func keepLog() { if log == nil { log = MessageLog() } }

  func record(_ message: SignallingMessage) { log?.record(message, codec?.declaration(of: message.type)) }

  @discardableResult
  package func add(_ fault: SignallingFault) -> ID {
    defer { nextID += 1 }
    change { faults.append((nextID, fault)) }
    return nextID
  }

  /// Returns the number of frames that a fault has met so far, also after its end.
  package func meetings(of id: ID) -> Int { counts[id] ?? 0 }

  /// Returns whether another fault has taken a frame that matched this one.
  package func isForestalled(_ id: ID) -> Bool { forestalled.contains(id) }

  /// Returns a message that keeps a delaying fault from being complete; see ``HeldMessages/held(by:)``.
  package func held(by id: ID) -> (message: SignallingMessage, until: Instant)? { delayed.held(by: id) }

  /// Returns the time at which the last of what a delaying fault holds is released; nil if ``held(by:)`` is.
  package func heldUntil(by id: ID) -> Instant? { delayed.heldUntil(by: id) }

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
  ///   - first: The first fault that it meets.
  ///   - lost: Called when a fault takes it, now or later.
  package func pass(
    _ message: SignallingMessage, on lane: Lane, from first: ID = 0, deliver: @escaping (SignallingMessage) -> Void,
    lost: @escaping () -> Void = {}
  ) {
    var (effects, isLost) = meet(message, from: first)
    guard !isLost else { return lost() }
    // An overtaking frame is not held itself, or the two would not change places.
    // Nor does a ping tell of the order of messages.
    let passes = { (late: Held) in late.lane == lane && (message.content != nil || late.message.content == nil) }
    let waiting = held.filter(passes)
    if !waiting.isEmpty { effects.removeAll { $0.effect == .reorder } }
    // One that does not leave now overtakes nothing.
    let overtaken = effects.contains { $0.effect.holds } ? [] : waiting
    if !overtaken.isEmpty { held.removeAll(where: passes) }
    defer {
      for late in overtaken {
        late.timer.cancel()
        counts[late.fault, default: 0] += 1
        release(late)
      }
    }
    carryOut(effects[...], on: message, lane, Exit(deliver: deliver, lost: lost))
  }

  /// Returns what the faults do to a message, and whether one takes it.
  private func meet(_ message: SignallingMessage, from first: ID) -> (
    [(id: ID, effect: SignallingFault.Effect)], isLost: Bool
  ) {
    var effects: [(id: ID, effect: SignallingFault.Effect)] = []
    var isLost = false
    // Each fault acts on what the older ones leave: an equal one finds nothing to change.
    var current = message
    for index in faults.indices where faults[index].id >= first && isMeant(faults[index].fault, for: current) {
      // A frame that an older fault drops counts too, so that the frames this fault meets do not depend on other
      // faults.
      faults[index].fault.remaining = faults[index].fault.remaining.map { $0 - 1 }
      guard !isLost else {
        forestalled.insert(faults[index].id)
        continue
      }
      let effect = faults[index].fault.effect
      // An equal corruption finds nothing to change, or would undo the older one.
      if effect.isCorruption, effects.contains(where: { $0.effect == effect }) {
        forestalled.insert(faults[index].id)
        continue
      }
      if !effect.isMetLater { counts[faults[index].id, default: 0] += 1 }
      effects.append((faults[index].id, effect))
      tell(effect, message)
      isLost = effect == .drop || effect == .blackhole
      if let changed = changed(current, by: effect) { current = changed }
    }
    return (effects, isLost)
  }

  /// Returns whether a fault applies to a message; a fault of a field applies only to messages with this field.
  private func isMeant(_ fault: SignallingFault, for message: SignallingMessage) -> Bool {
    guard fault.matches(message) else { return false }
    switch fault.effect {
    case .damage(let field): return codec?.field(field, of: message) != nil
    case .set(let field, let text):
      guard let name = codec?.field(field, of: message) else { return false }
      // To set what is there already is no damage.
      return message.content?[name] != value(text, of: field, in: message)
    case .mutate(.description(.inlineCandidates)):
      // The candidates come later.
      return codec?.field(MessageField.Role.description.rawValue, of: message) != nil
    case .mutate(let mutation): return mutated(message, by: mutation) != nil
    case .drop, .delay, .duplicate, .reorder, .corrupt, .mutateFrame, .blackhole: return true
    }
  }

  /// Applies faults to a message, the oldest first: each fault gets the output of the one before.
  private func carryOut(
    _ effects: ArraySlice<(id: ID, effect: SignallingFault.Effect)>, on message: SignallingMessage, _ lane: Lane,
    _ exit: Exit
  ) {
    guard let (id, effect) = effects.first else {
      guard let since = exit.since else { return exit.deliver(message) }
      return pass(message, on: lane, from: since, deliver: exit.deliver, lost: exit.lost)
    }
    let goOn = { [self] in carryOut(effects.dropFirst(), on: $0, lane, exit) }
    let rest = Exit(deliver: exit.deliver, lost: exit.lost, since: exit.since ?? nextID)
    let goOnLater = { [self] in carryOut(effects.dropFirst(), on: $0, lane, rest) }
    switch effect {
    case .drop, .blackhole: break
    case .delay(let interval):
      let number = delayed.keep(message, heldBy: id, until: clock.now + interval)
      clock.schedule(after: interval) { [self] in
        delayed.letGo(number, heldBy: id)
        goOnLater(message)
      }
    case .duplicate:
      goOn(message)
      // Each fault adds one copy: copies of copies would be without number.
      carryOut(effects.dropFirst().filter { $0.effect != .duplicate }[...], on: message, lane, exit)
    case .reorder: hold(message, on: lane, for: id, goOnLater)
    case .mutate(.description(.inlineCandidates)):
      let number = delayed.keep(message, heldBy: id, until: clock.now + Self.candidateTime)
      clock.schedule(after: Self.candidateTime) { [self] in
        delayed.letGo(number, heldBy: id)
        let changed = mutated(message, by: .description(.inlineCandidates))
        if changed != nil { counts[id, default: 0] += 1 }
        goOnLater(changed ?? message)
      }
    case .corrupt, .damage, .set, .mutate, .mutateFrame: goOn(changed(message, by: effect) ?? message)
    }
  }

  /// Returns what an effect makes of a message at once; nil if it leaves the message as it is.
  private func changed(_ message: SignallingMessage, by effect: SignallingFault.Effect) -> SignallingMessage? {
    switch effect {
    case .corrupt:
      var damaged = message
      damaged.text = MessageContent.damaged(message.text)
      return damaged
    case .damage(let field): return changed(message, field) { $0.damage($1) }
    case .set(let field, let text): return changed(message, field) { $0[$1] = value(text, of: field, in: message) }
    case .mutate(let mutation): return mutated(message, by: mutation)
    case .mutateFrame(let mutation):
      var mutated = message
      mutated.text = mutation.mutate(message.text)
      return mutated
    case .drop, .delay, .duplicate, .reorder, .blackhole: return nil
    }
  }

  /// Returns the mutated message in its frame; nil if it lacks the part to mutate.
  private func mutated(_ message: SignallingMessage, by mutation: MessageMutation) -> SignallingMessage? {
    guard let codec, let content = message.content, let declaration = codec.declaration(of: message.type) else {
      return nil
    }
    let context = (log ?? MessageLog()).context(of: message, declaration)
    return declaration.mutate(content, by: mutation.naming { declaration.field($0)?.name ?? $0 }, context).map {
      changed in codec.rewrite(message) { $0 = changed }
    }
  }

  /// Returns the value of a field that a fault writes, as the field's declaration types it.
  private func value(_ text: String, of field: String, in message: SignallingMessage) -> JSON {
    let type = codec?.declaration(of: message.type)?.field(field)?.type ?? .string
    return type.value(text) ?? .string(text)
  }

  private func changed(
    _ message: SignallingMessage, _ field: String, _ change: (inout MessageContent, String) -> Void
  ) -> SignallingMessage {
    guard let codec, let name = codec.field(field, of: message) else { return message }
    return codec.rewrite(message) { change(&$0, name) }
  }

  /// Counts a frame that a black hole drops: it has met the oldest fault that drops it.
  ///
  /// - Parameter isMet: Whether faults of the frame's type apply here, too; they meet each message once.
  func swallowed(_ message: SignallingMessage, isMet: Bool = true) {
    var taking: SignallingFault.Effect?
    for index in faults.indices where faults[index].fault.isTotal || faults[index].fault.matches(message) {
      let (id, effect) = (faults[index].id, faults[index].fault.effect)
      guard isMet || faults[index].fault.isTotal else {
        // The frame never reaches the place where this fault would have met it.
        forestalled.insert(id)
        continue
      }
      faults[index].fault.remaining = faults[index].fault.remaining.map { $0 - 1 }
      if taking == nil, effect == .drop || effect == .blackhole {
        counts[id, default: 0] += 1
        taking = effect
      } else {
        forestalled.insert(id)
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

  private func hold(
    _ message: SignallingMessage, on lane: Lane, for fault: ID, _ deliver: @escaping (SignallingMessage) -> Void
  ) {
    let id = delayed.keep(message, heldBy: fault, until: clock.now + Self.longestHold)
    let timer = clock.schedule(after: Self.longestHold) { [weak self] in
      guard let self, let index = held.firstIndex(where: { $0.id == id }) else { return }
      release(held.remove(at: index))
    }
    held.append(Held(lane: lane, message: message, deliver: deliver, timer: timer, id: id, fault: fault))
  }

  private func release(_ late: Held) {
    delayed.letGo(late.id, heldBy: late.fault)
    late.deliver(late.message)
  }

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
