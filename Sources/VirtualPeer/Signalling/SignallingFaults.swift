public import CallCore
public import Vocabulary

/// What a scenario does to signalling at the server's end of the WebSockets.
public struct SignallingFault: Hashable, Sendable {
  public enum Effect: Hashable, Sendable {
    case drop
    case delay(Interval)
    case duplicate
    /// Held until the next frame on the same socket in the same direction has passed it, or for one second.
    case reorder
    /// One character of the text is replaced.
    case corrupt
    /// One field, by its name or its role, is damaged.
    case damage(field: String)
    /// One field, by its name or its role, becomes what the text stands for.
    case set(field: String, String)
    /// Lost while the connections look up. Without a type and users everything is: upgrades and closings too.
    case blackhole
  }

  public var effect: Effect
  /// Only frames of this type, from this user, to this user; nil matches all, pings and connects included.
  public var type: String?
  public var from: String?
  public var to: String?
  /// How many matching frames it is still meant for, whatever older faults leave of them; nil for all while it lasts.
  public var remaining: Int?

  public init(_ effect: Effect, type: String? = nil, from: String? = nil, to: String? = nil, count: Int? = nil) {
    self.effect = effect
    self.type = type
    self.from = from
    self.to = to
    remaining = count
  }

  /// Whether nothing at all passes, in either direction.
  var isTotal: Bool { effect == .blackhole && type == nil && from == nil && to == nil }

  func matches(_ message: SignallingMessage) -> Bool {
    (type == nil || type == message.type) && (from == nil || from == message.from) && (to == nil || to == message.to)
      && remaining != 0
  }
}

/// One text frame at the signalling server.
public struct SignallingMessage: Hashable, Sendable {
  /// As scenarios name it, or what the profile calls a frame of its transport: `ping`.
  public var type: String
  /// The user it comes from; nil when the server itself sends it, or has not been told who the client is.
  public var from: String?
  /// The user it goes to; nil when it is for the server.
  public var to: String?
  public var text: String
  /// What it says, when it is a message and no frame of the transport.
  public var content: MessageContent?

  public init(type: String, from: String?, to: String?, text: String, content: MessageContent? = nil) {
    self.content = content
    self.type = type
    self.from = from
    self.to = to
    self.text = text
  }
}

/// The active signalling faults of one server, applied to every frame by ``SignallingTap``.
package final class SignallingFaults {
  package typealias ID = Int

  /// One direction of one socket: what overtakes what goes by it.
  package struct Lane: Hashable {
    let socket: Int
    let isToClient: Bool
  }

  private var faults: [(id: ID, fault: SignallingFault)] = []
  private var held: [Held] = []
  private var nextID: ID = 1
  /// How many frames each fault has met, also when it is over.
  private var counts: [ID: Int] = [:]
  /// The faults of whose frames others took some.
  private var forestalled: Set<ID> = []
  /// How many frames a fault that delays has let go, and still holds.
  private var delays: [ID: (held: Int, released: Int)] = [:]
  /// Reads and writes what messages say, for faults of single fields.
  var codec: SignallingCodec?
  /// Told when a black hole opens or the last one closes.
  var onSilence: ((_ isSilent: Bool) -> Void)?

  /// A frame that waits to be overtaken.
  private struct Held {
    let lane: Lane
    let message: SignallingMessage
    let deliver: (SignallingMessage) -> Void
    let timer: PeerTimer
    let id: ID
  }

  private static let longestHold = Interval.seconds(1)
  private let clock: PeerClock
  private let trace: Trace
  private let subject: TraceSubject

  package init(clock: PeerClock, trace: Trace, subject: String) {
    self.clock = clock
    self.trace = trace
    self.subject = trace.subject(subject)
  }

  /// Whether nothing at all passes.
  package var isSilent: Bool { faults.contains { $0.fault.isTotal } }

  /// Whether frames pass as they are, so that nobody need ask what they say.
  var isIdle: Bool { faults.isEmpty && held.isEmpty }

  @discardableResult
  package func add(_ fault: SignallingFault) -> ID {
    defer { nextID += 1 }
    change { faults.append((nextID, fault)) }
    return nextID
  }

  /// How many frames a fault has met so far, also when it is over.
  package func meetings(of id: ID) -> Int { counts[id] ?? 0 }

  /// Whether another fault has taken a frame that this one was meant for.
  package func isForestalled(_ id: ID) -> Bool { forestalled.contains(id) }

  /// Whether a fault that delays holds frames, and not one of those that it met has come.
  package func holdsAll(_ id: ID) -> Bool { delays[id].map { $0.held > 0 && $0.released == 0 } ?? false }

  package func remove(_ id: ID) { change { faults.removeAll { $0.id == id } } }

  package func removeAll() { change { faults.removeAll() } }

  private func change(_ body: () -> Void) {
    let wasSilent = isSilent
    body()
    if isSilent != wasSilent { onSilence?(isSilent) }
  }

  /// Passes `message` on to `deliver`: now, later, twice, changed or never.
  package func pass(_ message: SignallingMessage, on lane: Lane, deliver: @escaping (SignallingMessage) -> Void) {
    let overtaken = held.filter { $0.lane == lane }
    held.removeAll { $0.lane == lane }
    defer {
      for late in overtaken {
        late.timer.cancel()
        late.deliver(late.message)
      }
    }
    var effects: [(id: ID, effect: SignallingFault.Effect)] = []
    var isLost = false
    for index in faults.indices where isMeant(faults[index].fault, for: message) {
      // What an older fault loses counts as one, too: what this one affects does not depend on that.
      faults[index].fault.remaining = faults[index].fault.remaining.map { $0 - 1 }
      guard !isLost else {
        forestalled.insert(faults[index].id)
        continue
      }
      let effect = faults[index].fault.effect
      counts[faults[index].id, default: 0] += 1
      effects.append((faults[index].id, effect))
      tell(effect, message)
      isLost = effect == .drop || effect == .blackhole
    }
    // One that overtakes is not held in its turn, or nothing would change places.
    if !overtaken.isEmpty { effects.removeAll { $0.effect == .reorder } }
    carryOut(effects[...], on: message, lane, deliver)
  }

  /// Whether a fault works on a message: one of a field on those that have it alone.
  private func isMeant(_ fault: SignallingFault, for message: SignallingMessage) -> Bool {
    guard fault.matches(message) else { return false }
    switch fault.effect {
    case .damage(let field), .set(let field, _): return codec?.field(field, of: message) != nil
    case .drop, .delay, .duplicate, .reorder, .corrupt, .blackhole: return true
    }
  }

  /// Does to a message what the faults that it meets do, oldest first: what one lets on, the next one has.
  private func carryOut(
    _ effects: ArraySlice<(id: ID, effect: SignallingFault.Effect)>, on message: SignallingMessage, _ lane: Lane,
    _ deliver: @escaping (SignallingMessage) -> Void
  ) {
    guard let (id, effect) = effects.first else { return deliver(message) }
    let goOn = { [self] in carryOut(effects.dropFirst(), on: $0, lane, deliver) }
    switch effect {
    case .drop, .blackhole: break
    case .delay(let interval):
      delays[id, default: (0, 0)].held += 1
      clock.schedule(after: interval) { [self] in
        delays[id, default: (0, 0)].held -= 1
        delays[id, default: (0, 0)].released += 1
        goOn(message)
      }
    case .duplicate:
      goOn(message)
      goOn(message)
    case .reorder: hold(message, on: lane, goOn)
    case .corrupt:
      var damaged = message
      damaged.text = MessageContent.damaged(message.text)
      goOn(damaged)
    case .damage(let field): goOn(changed(message, field) { $0.damage($1) })
    case .set(let field, let text):
      let type = codec?.declaration(of: message.type)?.field(field)?.type ?? .string
      goOn(changed(message, field) { $0[$1] = type.value(text) ?? .string(text) })
    }
  }

  private func changed(
    _ message: SignallingMessage, _ field: String, _ change: (inout MessageContent, String) -> Void
  ) -> SignallingMessage {
    guard let codec, let name = codec.field(field, of: message) else { return message }
    return codec.rewrite(message) { change(&$0, name) }
  }

  /// Nothing passes: the oldest fault that takes the frame has met it.
  ///
  /// - Parameter isMet: whether the frame is one for faults of its type, too, which meet each message once.
  func swallowed(_ message: SignallingMessage, isMet: Bool = true) {
    var taking: SignallingFault.Effect?
    for index in faults.indices where faults[index].fault.isTotal || faults[index].fault.matches(message) {
      let (id, effect) = (faults[index].id, faults[index].fault.effect)
      guard isMet || faults[index].fault.isTotal else {
        // It does not come to where this one would have met it.
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

  /// What traces call the end that is no user.
  static let server = "server"

  private func hold(
    _ message: SignallingMessage, on lane: Lane, _ deliver: @escaping (SignallingMessage) -> Void
  ) {
    let id = nextID
    nextID += 1
    let timer = clock.schedule(after: Self.longestHold) { [weak self] in
      self?.held.removeAll { $0.id == id }
      deliver(message)
    }
    held.append(Held(lane: lane, message: message, deliver: deliver, timer: timer, id: id))
  }

  private static func name(of effect: SignallingFault.Effect) -> String {
    switch effect {
    case .drop: "drop"
    case .delay: "delay"
    case .duplicate: "duplicate"
    case .reorder: "reorder"
    case .corrupt, .damage, .set: "corrupt"
    case .blackhole: "blackhole"
    }
  }
}
