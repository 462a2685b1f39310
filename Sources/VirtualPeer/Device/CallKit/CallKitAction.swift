/// An action of the user in the system's call UI, or one that the app has requested, which the app fulfils or fails
/// (`CXCallAction`).
public struct CallKitAction: Hashable, Sendable {
  /// What is to be done.
  public enum Kind: Hashable, Sendable {
    /// `CXStartCallAction`
    case start
    /// `CXAnswerCallAction`
    case answer
    /// `CXEndCallAction`
    case end
    /// `CXSetHeldCallAction`
    case setHeld(Bool)
    /// `CXSetMutedCallAction`
    case setMuted(Bool)
  }

  /// What is to be done.
  public let kind: Kind
  /// The id that the app gave the call.
  public let callID: String

  /// Creates an action.
  public init(_ kind: Kind, of callID: String) {
    self.kind = kind
    self.callID = callID
  }
}

/// What CallKit tells an app (`CXProviderDelegate`).
public enum CallKitChange: Hashable, Sendable {
  /// The system has activated the audio session for a call: the app may start its audio.
  case didActivate
  /// The system has deactivated the audio session: the app may take its audio down.
  case didDeactivate
}
