public import Vocabulary

/// A call app: the seam that the built-in profiles and a user's own app share.
///
/// One instance is the app of one user on one device. User actions, timers, signalling and peer connection callbacks
/// drive it, all on the one thread of its run. A call that the app makes never re-enters it.
public protocol CallApp: AnyObject, SendableMetatype {
  /// The names that the app can use. An undeclared transition is refused and traced; an undeclared code or value traps.
  static var vocabulary: ProfileVocabulary { get }

  /// Creates the app; nothing may happen before ``start()``.
  init(environment: PeerEnvironment)

  /// Launches the app; its device is on the network.
  func start()

  /// Performs a user action.
  ///
  /// - Throws: The reason for which the action has no effect.
  func perform(_ action: UserAction) throws(ActionError)

  /// Handles a change of the interfaces or their addresses.
  func networkChanged()

  /// Handles what the system says of the device and the app's state. Not called while the app is
  /// suspended.
  func deviceChanged(_ change: DeviceChange)

  /// Performs an action of the system's call UI (CallKit), or one that the app requested.
  ///
  /// - Returns: Whether the app fulfils the action.
  func perform(_ action: CallKitAction) -> Bool

  /// Handles what CallKit says of the audio session.
  func callKitChanged(_ change: CallKitChange)

  /// Handles a VoIP push: the app reports a call to CallKit, then completes the push.
  func received(_ push: VoIPPush)

  /// Ends the app at the end of the run: it hangs up and releases every timer, socket and connection.
  func shutDown()
}

extension CallApp {
  /// Ignores the change.
  public func deviceChanged(_ change: DeviceChange) {}
  /// Fails the action.
  public func perform(_ action: CallKitAction) -> Bool { false }
  /// Ignores the change.
  public func callKitChanged(_ change: CallKitChange) {}
  /// Ignores the push, which ends the app.
  public func received(_ push: VoIPPush) {}
}

/// An action of a user, with the values that the vocabulary declares.
public struct UserAction: Sendable {
  /// The action's name in the vocabulary.
  public let name: String
  /// The action's values.
  public let values: NamedValues
  /// The number among the actions of its peer, from 1.
  package var number = 0

  /// Creates an action.
  public init(_ name: String, _ values: NamedValues = NamedValues([])) {
    self.name = name
    self.values = values
  }
}

/// The reason for which an action had no effect. Scenarios see it as an `action-refused` event.
public struct ActionError: Error, Hashable, Sendable {
  /// The reason, in plain text.
  public let reason: String

  /// Creates an error with a reason.
  public init(_ reason: String) { self.reason = reason }
}
