/// One argument of an action or fault, or one setting of a peer.
public struct ParameterDeclaration: Sendable {
  /// What a setting does, where checks of scenarios ask.
  public enum Role: Sendable {
    /// A flag: whether the app restarts ICE by itself.
    case restartsICE
  }

  public let name: String
  public let type: ValueType
  public let isRequired: Bool
  public let summary: String
  public let provenance: Provenance
  public let role: Role?

  public init(
    _ name: String, _ type: ValueType, required: Bool = false, _ summary: String,
    provenance: Provenance = .harnessDefault, as role: Role? = nil
  ) {
    self.name = name
    self.type = type
    isRequired = required
    self.summary = summary
    self.provenance = provenance
    self.role = role
  }
}

/// Something a user of the app can do: `call`, `accept`, `mute`.
public struct ActionDeclaration: Sendable {
  /// What the user does with it.
  public enum Role: Hashable, Sendable {
    /// Places a call with the peer that the named parameter names, or with anybody when there is none.
    case begin(with: String?)
    /// Answers the call that the app says it is in.
    case accept
    case refuse
    case end
    /// Joins the room that the named parameter names, or the only one there is.
    case join(room: String?)
    case leave
    /// Stops sending what the microphone hears; ``unmute`` takes it back.
    case mute
    case unmute
    /// Makes the app renegotiate its transport.
    case restartICE

    /// Whether the user consents to a call: media may leave the device for it.
    public var isConsent: Bool {
      switch self {
      case .begin, .accept, .join: true
      case .refuse, .end, .leave, .mute, .unmute, .restartICE: false
      }
    }

    /// Whether what follows gathers candidates at once.
    public var gathers: Bool {
      switch self {
      case .begin, .join, .restartICE: true
      case .accept, .refuse, .end, .leave, .mute, .unmute: false
      }
    }

    /// The word for people.
    public var word: String {
      switch self {
      case .begin: "begins a call"
      case .accept: "accepts"
      case .refuse: "refuses"
      case .end: "ends the call"
      case .join: "joins a room"
      case .leave: "leaves the room"
      case .mute: "mutes"
      case .unmute: "unmutes"
      case .restartICE: "restarts ICE"
      }
    }
  }

  public let name: String
  public let parameters: [ParameterDeclaration]
  public let summary: String
  /// Nil for what no check asks about.
  public let role: Role?

  public init(_ name: String, _ parameters: [ParameterDeclaration] = [], _ summary: String, as role: Role? = nil) {
    self.name = name
    self.parameters = parameters
    self.summary = summary
    self.role = role
  }

  /// The parameter that says to whom or to what it is done.
  public var object: String? {
    switch role {
    case .begin(let parameter?), .join(let parameter?): parameter
    default: parameters.first { $0.type == .peer || $0.type == .text }?.name
    }
  }
}
