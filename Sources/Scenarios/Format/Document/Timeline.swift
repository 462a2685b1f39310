public import CallCore
internal import Formats
internal import Vocabulary

/// One line of the timeline: one trigger and one effect.
public struct TimelineEntry: Sendable, Equatable {
  /// The file's own id, the name of a mark, or `#n` by position.
  public var id = ""
  /// The condition for firing.
  public var trigger = Trigger.at(.zero)
  /// The effect of firing.
  public var effect = Effect.clear(entry: Located(""))
  /// The expected refusal of an action by the app.
  public var refusal = Refusal.none
  /// Whether the fault has no effect in this cell, which is the control for another cell where it has one.
  package var isControl = false
  /// The reason that the file gives.
  public var why: String?
  /// The location in the scenario file.
  @NotCompared public var span = SourceSpan.builtIn
  /// Creates an entry at time zero.
  public init() {}

  /// The expected refusal of an action.
  public enum Refusal: Sendable, Equatable {
    case none
    case anyReason
    /// A refusal with this reason, in the app's own words.
    case reason(String)

    /// Returns whether the outcome of an action is the expected one.
    ///
    /// - Parameter reason: the reason of the refusal; nil when the app accepted.
    package func allows(_ reason: String?) -> Bool {
      switch self {
      case .none: reason == nil
      case .anyReason: reason != nil
      case .reason(let wanted): reason == wanted
      }
    }
  }

  /// The condition for firing an entry.
  public enum Trigger: Sendable, Equatable {
    /// At a virtual time.
    case at(Instant)
    /// A delay after each firing of an anchor; the entry fires once for an anchor that fires once.
    case after(Interval, of: Anchor)
    /// A delay after the predicate becomes true, the first `times` times.
    case when(Predicate, delay: Interval, times: Int)
    /// Every period after the start of the run (or after `from`), until an anchor or `times` times, whichever is first.
    case every(Interval, from: Anchor?, until: Anchor?, times: Int?)
  }

  /// The effect of firing an entry.
  public enum Effect: Sendable, Equatable {
    /// A user action of a peer.
    case action(peer: String, name: String, arguments: Arguments)
    /// A fault, which ends by itself after `duration` if one is given.
    case fault(Fault, duration: Interval?)
    /// Raw signalling in the name of a peer.
    case send(RawMessage)
    /// The end of a fault that another entry began.
    case clear(entry: Located<String>)
    /// No effect: the entry names a time.
    case mark
  }
}

/// A point in a run to which a trigger or a window refers.
public struct Anchor: Sendable, Equatable {
  /// The event that defines the point.
  public enum Kind: Sendable, Equatable {
    /// A virtual time.
    case time(Instant)
    /// The end of the run.
    case end
    /// An entry of the timeline fires.
    case entry(String)
    /// A defined predicate is true for the first time.
    case definition(String)
    /// A state machine of a peer or of one of its connections enters a state: `bob.connected` is ("bob", "call.state",
    /// "connected").
    case entersState(subject: String, machine: String, state: String)
    /// A flag of a peer becomes true for the first time: `victim.user.accepted`.
    case becomesTrue(subject: String, value: String)
    /// A declared event of a peer happens: `alice.ice.restart`.
    case event(subject: String, name: String)
  }

  /// The event that defines the point.
  public var kind: Kind
  /// The location in the scenario file.
  @NotCompared public var span: SourceSpan = .builtIn
  /// The source text.
  @NotCompared public var text: String = ""

  package init(kind: Kind, span: SourceSpan = .builtIn, text: String = "") {
    self.kind = kind
    self.span = span
    self.text = text
  }
}

/// A signalling message that no app sends: it reaches the addressee by way of a server as if the sender had sent it.
public struct RawMessage: Sendable, Hashable {
  /// The type of the message.
  public var type: String
  /// The peer in whose name it is sent: a puppet, or a peer whose app does not know of it, as of a modified client.
  public var from: String
  /// The addressee.
  public var to: String
  /// The server of a profile; nil when no profile has a server.
  public var server: String?
  /// The type of the message that has passed before and gives the fields that are not given, by their roles and names.
  public var like: String?
  /// The number of that message among those of its type, counted from 1; nil for the newest.
  public var number: Int?
  /// The given fields.
  public var fields = Arguments()

  package init(type: String, from: String, to: String) { (self.type, self.from, self.to) = (type, from, to) }

  /// Returns whether it gives a value at the path of a field; an object or a list is given as its JSON.
  package func has(_ path: String) -> Bool {
    let names = path.split(separator: ".", maxSplits: 1)
    guard let name = names.first.map(String.init), let value = fields[name] else { return false }
    guard names.count > 1 else { return true }
    guard case .text(let text) = value, let json = try? JSON(parsing: text.utf8) else { return false }
    return !MessageContent(type, [JSON.Member(name, json)]).values(at: path).isEmpty
  }
}

/// A fault of the catalogue with its typed arguments, which ``FaultKind/declaration`` lists.
public struct Fault: Sendable, Equatable {
  /// The fault.
  public var kind: FaultKind
  /// The arguments by name.
  public var arguments = Arguments()
  /// The impairments that `link.set` changes.
  public var impairments: Topology.Impairments?
  /// The direction of a link that the fault affects; nil is both.
  public var direction: Direction?
  /// The behaviour that `nat.set` changes.
  package var nat: NATDraft?
  /// The server of a profile at which signalling is affected; filled in when the file omits it.
  package var callServer: String?

  package init(kind: FaultKind, arguments: Arguments = Arguments()) { (self.kind, self.arguments) = (kind, arguments) }

  /// A direction, seen from the `from` end of the link.
  public enum Direction: String, Sendable, CaseIterable { case transmit = "tx", receive = "rx" }
}

extension TimelineEntry.Effect {
  /// Whether the effect takes parts of messages that passed before.
  package var readsMessages: Bool {
    switch self {
    case .send(let message): message.like != nil
    case .fault(let fault, _): fault.arguments["mutation"] != nil
    case .action, .clear, .mark: false
    }
  }
}

extension TimelineEntry {
  /// The fault that the entry begins.
  package var fault: Fault? {
    guard case .fault(let fault, _) = effect else { return nil }
    return fault
  }
}

extension TimelineEntry.Trigger {
  /// The anchors of the start and of the end.
  package var anchors: [Anchor] {
    switch self {
    case .at, .when: []
    case .after(_, let of): [of]
    case .every(_, let from, let until, _): [from, until].compactMap { $0 }
    }
  }
}
