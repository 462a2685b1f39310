public import Vocabulary

/// A call app: the seam that the built-in profiles and a user's own app share.
///
/// One instance is one user's app on one device. It is driven by user actions, timers, signalling and peer connection
/// callbacks, all on the one thread of its run, and never re-entrantly inside a call it made itself.
public protocol CallApp: AnyObject, SendableMetatype {
  /// Every name the app can say. An undeclared transition is refused and traced; an undeclared code or value traps.
  static var vocabulary: ProfileVocabulary { get }

  init(environment: PeerEnvironment)

  /// The app was launched and its device is on the network.
  func start()

  /// The user did something.
  func perform(_ action: UserAction) throws(ActionError)

  /// Interfaces came, went or changed their addresses.
  func networkChanged()

  /// The run is over: hang up and let go of every timer, socket and connection.
  func shutDown()
}

/// Something a user did, with the values the vocabulary declares.
public struct UserAction: Sendable {
  public let name: String
  public let values: NamedValues

  public init(_ name: String, _ values: NamedValues = NamedValues([])) {
    self.name = name
    self.values = values
  }
}

/// Why an action had no effect. Scenarios see it as an `action-refused` event.
public struct ActionError: Error, Hashable, Sendable {
  public let reason: String

  public init(_ reason: String) { self.reason = reason }
}
