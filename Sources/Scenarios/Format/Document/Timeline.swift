public import CallCore

/// One line of the timeline: one trigger and one effect.
public struct TimelineEntry: Sendable, Equatable {
  /// The file's own id, the name of a mark, or `#n` by position.
  public var id = ""
  public var trigger = Trigger.at(.zero)
  public var effect = Effect.clear(entry: Located(""))
  /// Whether the app is expected to refuse the action.
  public var refusal = Refusal.none
  /// Whether its fault changes nothing in this cell, and does in another: the cell is there to compare with.
  package var isControl = false
  public var why: String?
  @NotCompared public var span = SourceSpan.builtIn
  public init() {}

  /// What is expected of an action.
  public enum Refusal: Sendable, Equatable {
    case none
    case anyReason
    /// With this reason, in the app's words.
    case reason(String)

    /// - Parameter reason: why the app refused; nil when it did not.
    package func allows(_ reason: String?) -> Bool {
      switch self {
      case .none: reason == nil
      case .anyReason: reason != nil
      case .reason(let wanted): reason == wanted
      }
    }
  }

  public enum Trigger: Sendable, Equatable {
    /// At a virtual time.
    case at(Instant)
    /// `delay` after each firing of an anchor (an entry fires once for anchors that fire once).
    case after(Interval, of: Anchor)
    /// When the predicate becomes true, plus `delay`, the first `times` times.
    case when(Predicate, delay: Interval, times: Int)
    /// Every period after the start of the run (or after `from`), until an anchor or `times` times, whichever is first.
    case every(Interval, from: Anchor?, until: Anchor?, times: Int?)
  }

  public enum Effect: Sendable, Equatable {
    /// A user action of a peer.
    case action(peer: String, name: String, arguments: Arguments)
    /// A fault, cleared by itself after `duration` when given.
    case fault(Fault, duration: Interval?)
    /// Raw signalling from a puppet, by way of a server of a profile; nil where no profile has one.
    case send(message: String, from: String, to: String, server: String?, fields: Arguments)
    /// Ends the fault another entry began.
    case clear(entry: Located<String>)
    /// Nothing: the entry names a time.
    case mark
  }
}

/// A point in a run that a trigger or a window refers to.
public struct Anchor: Sendable, Equatable {
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

  public var kind: Kind
  @NotCompared public var span: SourceSpan = .builtIn
  /// As written.
  @NotCompared public var text: String = ""

  package init(kind: Kind, span: SourceSpan = .builtIn, text: String = "") {
    self.kind = kind
    self.span = span
    self.text = text
  }
}

/// A fault of the catalogue with its typed arguments; ``FaultKind/declaration`` says which there are.
public struct Fault: Sendable, Equatable {
  public var kind: FaultKind
  public var arguments = Arguments()
  /// What `link.set` changes.
  public var impairments: Topology.Impairments?
  /// The direction `link.set` and friends apply to; nil is both.
  public var direction: Direction?
  /// What `nat.set` changes.
  package var nat: NATDraft?
  /// The server of a profile at which messages are lost, delayed and the like, also where the file leaves it out.
  package var callServer: String?

  /// Seen from the link's `from` end.
  public enum Direction: String, Sendable, CaseIterable { case transmit = "tx", receive = "rx" }
}

extension TimelineEntry {
  /// The fault that it begins.
  package var fault: Fault? {
    guard case .fault(let fault, _) = effect else { return nil }
    return fault
  }
}

extension TimelineEntry.Trigger {
  /// What it waits for, and what ends it.
  package var anchors: [Anchor] {
    switch self {
    case .at, .when: []
    case .after(_, let of): [of]
    case .every(_, let from, let until, _): [from, until].compactMap { $0 }
    }
  }
}
