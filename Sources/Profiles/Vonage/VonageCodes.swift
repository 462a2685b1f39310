internal import Vocabulary

/// The error codes that a client can see, of the domains of session, publisher and subscriber.
///
/// Codes of a session have their number alone; the others are written with their domain, for the numbers repeat.
enum VonageCode {
  /// A code with which a session ends.
  private static let ends: [(code: String, meaning: String, blame: CodeDeclaration.Blame)] = [
    ("1004", "The API key or the token is not good for the session.", .me),
    ("1005", "The session's id is invalid.", .me),
    ("1006", "The services could not be reached: the device has no network.", .network),
    ("1020", "The state of the session did not come in time.", .time),
    ("1021", "The connection was not opened in time.", .time),
    ("1022", "The messaging connection was lost and did not come back.", .network),
    ("1023", "The socket was refused, or its port is blocked.", .network),
    ("1026", "The service is not available in this country.", .server),
    ("1027", "The session has as many connections as it may have.", .server),
    ("1403", "The session is relayed, and two clients are in it.", .server),
    ("1503", "There is no messaging server.", .server),
    ("2000", "A message of the server could not be used.", .server),
  ]

  /// A code that does not end a session.
  private static let others: [(code: String, meaning: String)] = [
    ("1010", "Session: the action needs a session that is connected."),
    ("1011", "Session: a parameter is missing."),
    ("1015", "Session: the state does not permit the action, such as to connect twice."),
    ("1112", "Session: there is no such subscriber to remove."),
    ("1113", "Session: there is no such publisher to remove."),
    ("1413", "Session: a signal has more than 8 KB of data."),
    ("1461", "Session: the type of a signal has a letter that it may not have, or more than 128."),
    ("1520", "Session: the token does not permit to disconnect others."),
    ("1540", "Session: the token does not permit to mute others."),
    ("1550", "Session: a signal could not be delivered."),
    ("publisher.1010", "Publisher: the session is not connected."),
    ("publisher.1610", "Publisher: the WebRTC connection failed."),
    ("subscriber.1010", "Subscriber: the session is not connected."),
    ("subscriber.1542", "Subscriber: no media came in time."),
    ("subscriber.1600", "Subscriber: the WebRTC connection failed."),
    ("subscriber.1604", "Subscriber: the stream is gone."),
    ("subscriber.1605", "Subscriber: the client has as many subscribers as it may have."),
    ("subscriber.1606", "Subscriber: the publisher is not connected."),
  ]

  /// The codes with which a session may end.
  static var endCodes: [CodeDeclaration] {
    [
      CodeDeclaration("disconnected", "The user left the session.", provenance: .documented, blames: .me),
      CodeDeclaration(
        "forceDisconnected", "A moderator disconnected this client.", provenance: .documented, blames: .server),
      CodeDeclaration(
        "mediaIdle", "The client neither published nor subscribed for four hours.", provenance: .documented,
        blames: .time),
      CodeDeclaration("other", "A code that this profile does not know.", provenance: .harnessDefault, blames: .server),
    ]
      + ends.map {
        CodeDeclaration(
          $0.code, "OTSessionErrorDomain: \($0.meaning)", provenance: .documented, blames: $0.blame)
      }
  }

  /// The codes that are raised beside the end.
  static var errorCodes: [CodeDeclaration] {
    others.map { CodeDeclaration($0.code, $0.meaning, provenance: .documented) }
  }

  /// All codes, for values.
  static var names: [String] { ends.map(\.code) + others.map(\.code) }

  /// Returns the end code for a code of the server.
  static func end(_ code: String) -> String { ends.contains { $0.code == code } ? code : "other" }
}
