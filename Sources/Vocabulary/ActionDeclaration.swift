/// One argument of an action or fault, or one setting of a peer.
public struct ParameterDeclaration: Sendable {
  /// The meaning of a setting for the checks of scenarios.
  public enum Role: Sendable {
    /// Whether the app restarts ICE by itself: a flag.
    case restartsICE
    /// Whether the app uses CallKit and PushKit: a flag.
    case usesCallKit
    /// What gives the pictures of the app's video in place of the camera.
    case capturer
    /// By what other users know this one, in place of its user id.
    case identity
  }

  /// The name in scenarios.
  public let name: String
  /// The type of the value.
  public let type: ValueType
  /// Whether scenarios must give a value.
  public let isRequired: Bool
  /// A description for the documentation.
  public let summary: String
  /// The source of the fact.
  public let provenance: Provenance
  /// The meaning for checks, or nil.
  public let role: Role?
  /// What this one changes nothing without, or nil: for an argument another argument of the action, for a setting another
  /// setting, an action of the user, ``video`` or ``camera``. A flag must be true, and a value other than `none`, or the one of
  /// `NAME: VALUE`.
  public let need: String?
  /// The flag among the settings, or the other argument of the action, beside which this one cannot be set, or nil.
  public let bar: String?

  /// What a setting needs that changes nothing in calls without video.
  public static let video = "video"
  /// What a setting needs that changes nothing in calls without the pictures of a camera.
  public static let camera = "camera"

  /// Declares a parameter.
  public init(
    _ name: String, _ type: ValueType, required: Bool = false, _ summary: String,
    provenance: Provenance = .harnessDefault, as role: Role? = nil, needing need: String? = nil,
    barring bar: String? = nil
  ) {
    self.name = name
    self.type = type
    isRequired = required
    self.summary = summary
    self.provenance = provenance
    self.role = role
    self.need = need
    self.bar = bar
  }
}

/// An action of the app's user: `call`, `accept`, `mute`.
public struct ActionDeclaration: Sendable {
  /// The meaning of the action for a call.
  public enum Role: Hashable, Sendable {
    /// Calls the peer, or the peers, that the named parameter names; without a parameter, any peer.
    case begin(with: String?)
    /// Answers the app's current call.
    case accept
    case refuse
    case end
    /// Joins the room that the named parameter names; without a parameter, the only room.
    case join(room: String?)
    case leave
    /// Stops sending the microphone's sound; ``unmute`` resumes.
    case mute
    case unmute
    /// Makes the app renegotiate its transport.
    case restartICE
    /// Goes over to the other camera of the device.
    case switchCamera
    /// Sends the app's screen in place of the camera's pictures.
    case shareScreen

    /// Whether the user consents to a call, so that media may leave the device for it.
    public var isConsent: Bool {
      switch self {
      case .begin, .accept, .join: true
      case .refuse, .end, .leave, .mute, .unmute, .restartICE, .switchCamera, .shareScreen: false
      }
    }

    /// Whether the action starts candidate gathering immediately.
    public var gathers: Bool {
      switch self {
      case .begin, .join, .restartICE: true
      case .accept, .refuse, .end, .leave, .mute, .unmute, .switchCamera, .shareScreen: false
      }
    }

    /// The role as a phrase for explanations.
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
      case .switchCamera: "goes over to the other camera"
      case .shareScreen: "shares its screen"
      }
    }
  }

  /// The name in scenarios.
  public let name: String
  /// The parameters of the action.
  public let parameters: [ParameterDeclaration]
  /// A description for the documentation.
  public let summary: String
  /// The meaning for checks; nil if no check depends on the action.
  public let role: Role?
  /// Whether the action is about sound or pictures themselves, which synthetic media do not have.
  public let needsRealMedia: Bool

  /// Declares an action.
  public init(
    _ name: String, _ parameters: [ParameterDeclaration] = [], _ summary: String, as role: Role? = nil,
    needsRealMedia: Bool = false
  ) {
    self.name = name
    self.parameters = parameters
    self.summary = summary
    self.role = role
    self.needsRealMedia = needsRealMedia
  }

  /// The parameter with the peer or the object of the action.
  public var object: String? {
    switch role {
    case .begin(let parameter?), .join(let parameter?): parameter
    default: parameters.first { [.peer, .peers, .text].contains($0.type) }?.name
    }
  }
}
