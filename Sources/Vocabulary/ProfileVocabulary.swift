/// Everything a profile can say: the one declaration that name checking, the JSON Schema, illegal-transition detection
/// and `callsim explain` are made from.
///
/// A state that is not declared cannot be entered, a code cannot be raised and a value cannot be set.
public struct ProfileVocabulary: Sendable {
  /// The name scenarios use: `knotos`.
  public let profile: String
  public let summary: String
  /// State machines; the first is the profile's main one, so `bob.connected` means that machine entering `connected`.
  public let machines: [StateMachine]
  public let actions: [ActionDeclaration]
  public let messages: [MessageDeclaration]
  /// How a call may end, as scenarios assert it (`ends: alice, code: local-hangup`).
  public let endCodes: [CodeDeclaration]
  /// Error codes that are raised, whether or not they end the call.
  public let errorCodes: [CodeDeclaration]
  /// What a scenario may watch besides states.
  public let values: [ValueDeclaration]
  /// What a scenario may set on a peer of this profile.
  public let settings: [ParameterDeclaration]

  public init(
    profile: String, summary: String, machines: [StateMachine], actions: [ActionDeclaration],
    messages: [MessageDeclaration] = [], endCodes: [CodeDeclaration] = [], errorCodes: [CodeDeclaration] = [],
    values: [ValueDeclaration] = [], settings: [ParameterDeclaration] = []
  ) {
    self.profile = profile
    self.summary = summary
    self.machines = machines
    self.actions = actions
    self.messages = messages
    self.endCodes = endCodes
    self.errorCodes = errorCodes
    self.values = values
    self.settings = settings
  }
}

/// Where a fact about a product comes from; anything but `documented` is configuration, never a vendor's fact.
public enum Provenance: String, Sendable, CaseIterable {
  case documented, inferred, harnessDefault
}

/// A declared state machine, named as scenarios name it: `call.state`.
public struct StateMachine: Sendable {
  public struct State: Sendable {
    public let name: String
    public let summary: String
    public let isTerminal: Bool
    /// Whether the call stands: it may stay there until somebody ends it. Of the main machine only.
    public let isActive: Bool

    public init(_ name: String, _ summary: String, isTerminal: Bool = false, isActive: Bool = false) {
      self.name = name
      self.summary = summary
      self.isTerminal = isTerminal
      self.isActive = isActive
    }
  }

  public struct Transition: Hashable, Sendable {
    public let from: String
    public let to: String
    /// What brings it about, in the profile's words.
    public let event: String

    public init(_ from: String, _ to: String, on event: String) {
      self.from = from
      self.to = to
      self.event = event
    }
  }

  public let name: String
  /// The first is the initial state.
  public let states: [State]
  public let transitions: [Transition]

  public init(_ name: String, states: [State], transitions: [Transition]) {
    self.name = name
    self.states = states
    self.transitions = transitions
  }

  public func allows(from: String, to: String) -> Bool {
    transitions.contains { $0.from == from && $0.to == to }
  }
}

/// The type of an argument, a setting or a watched value: what the reader checks and the schema prints.
public enum ValueType: Sendable, Hashable {
  case count, real, flag, text
  case duration, rate, percentage, byteSize
  /// The name of a peer of the scenario.
  case peer
  /// One of a closed list.
  case choice([String])
}

/// One argument of an action or fault, or one setting of a peer.
public struct ParameterDeclaration: Sendable {
  public let name: String
  public let type: ValueType
  public let isRequired: Bool
  public let summary: String
  public let provenance: Provenance

  public init(
    _ name: String, _ type: ValueType, required: Bool = false, _ summary: String,
    provenance: Provenance = .harnessDefault
  ) {
    self.name = name
    self.type = type
    isRequired = required
    self.summary = summary
    self.provenance = provenance
  }
}

/// Something a user of the app can do: `call`, `accept`, `mute`.
public struct ActionDeclaration: Sendable {
  /// What the action consents to: media may leave the device for that call alone.
  public enum Consent: Sendable {
    /// To a call with the peer that the parameter `to` names, or with anybody when there is none.
    case place
    /// To the call that the app says it is in.
    case accept
  }

  public let name: String
  public let parameters: [ParameterDeclaration]
  public let summary: String
  /// Nil when it consents to no call.
  public let consent: Consent?

  public init(
    _ name: String, _ parameters: [ParameterDeclaration] = [], _ summary: String, consent: Consent? = nil
  ) {
    self.name = name
    self.parameters = parameters
    self.summary = summary
    self.consent = consent
  }
}

/// A signalling message type, as faults and puppets name it.
public struct MessageDeclaration: Sendable {
  public enum Direction: String, Sendable { case clientToServer, serverToClient, both }

  public let name: String
  public let direction: Direction
  public let summary: String
  public let provenance: Provenance

  public init(_ name: String, _ direction: Direction, _ summary: String, provenance: Provenance) {
    self.name = name
    self.direction = direction
    self.summary = summary
    self.provenance = provenance
  }
}

public struct CodeDeclaration: Sendable {
  /// What an end code says of the other side; the two sides of a call must not contradict each other.
  public enum Claim: Sendable {
    /// The other side ended the call of its own will.
    case otherEnded
    /// The other side refused the call, and so had not ended it.
    case otherRefused
  }

  public let name: String
  public let summary: String
  public let provenance: Provenance
  /// Nil when it says nothing of the other side.
  public let claim: Claim?

  public init(_ name: String, _ summary: String, provenance: Provenance, claim: Claim? = nil) {
    self.name = name
    self.summary = summary
    self.provenance = provenance
    self.claim = claim
  }
}

/// A value of a peer that a predicate may read: `selected.local.candidateType`.
public struct ValueDeclaration: Sendable {
  public let name: String
  public let type: ValueType
  /// The unit of a number, such as `bytes`, or nil.
  public let unit: String?
  /// How it counts; nil of what is as it is now.
  package let counting: Counting?
  public let summary: String

  /// How a number counts from zero on, for as long as its connection is open.
  package enum Counting: Sendable {
    /// It does not fall.
    case upward
    /// Up and down: late and repeated packets are taken from those that were lost (RFC 3550 appendix A.3).
    case net
    /// Upward for whichever candidate pair is selected, so that it falls where another one takes over.
    case ofSelectedPair
  }

  public init(_ name: String, _ type: ValueType, unit: String? = nil, _ summary: String) {
    self.init(name, type, unit: unit, counting: nil, summary)
  }

  package init(_ name: String, _ type: ValueType, unit: String?, counting: Counting?, _ summary: String) {
    self.name = name
    self.type = type
    self.unit = unit
    self.counting = counting
    self.summary = summary
  }
}

extension ValueType {
  /// Whether a word is a value of this type: any of a text, and of a choice those that it lists.
  package func admits(_ word: String) -> Bool {
    switch self {
    case .text, .peer: true
    case .choice(let words): words.contains(word)
    case .count, .real, .flag, .duration, .rate, .percentage, .byteSize: false
    }
  }
}
