internal import Vocabulary

/// The error codes that a client can see, of the domain `com.twilio.video`.
enum TwilioCode {
  /// A code: what it means, and who is to blame for a call that it ends.
  private static let table: [(code: String, meaning: String, blame: CodeDeclaration.Blame)] = [
    ("20101", "The token is malformed.", .me), ("20102", "The token's header is invalid.", .me),
    ("20103", "The token's issuer or subject is invalid.", .me), ("20104", "The token has expired.", .time),
    ("20105", "The token is not valid yet.", .time), ("20106", "The token's grants are invalid.", .me),
    ("20107", "The token's signature is invalid.", .me),
    ("53000", "No connection to the signalling server.", .network),
    ("53001", "The signalling connection was lost and not recovered.", .network),
    ("53002", "The session has expired.", .time), ("53003", "The client got a message that it cannot use.", .server),
    ("53004", "The client sent a message that the server cannot use.", .me),
    ("53006", "The server is too busy.", .server), ("53100", "The room's name is invalid.", .me),
    ("53101", "The room's name is too long.", .me), ("53105", "The room is full.", .server),
    ("53106", "There is no such room.", .server), ("53118", "The room was completed.", .server),
    ("53200", "The identity is invalid.", .me), ("53201", "The identity is too long.", .me),
    ("53204", "The server does not know the participant.", .server),
    ("53205", "Another participant took this identity.", .server),
    ("53304", "The participant has a track of that name already.", .me),
    ("53306", "A message on a data track is too large.", .me),
    ("53307", "Too much waits to be sent on a data track.", .me),
    ("53400", "The client cannot make or apply its own description.", .me),
    ("53402", "The client cannot apply the server's description.", .server),
    ("53403", "The server cannot apply the client's description.", .me),
    ("53405", "The media connection failed, or media stopped.", .network),
    ("53406", "The transport of a data track failed.", .network),
    ("53407", "The DTLS handshake failed.", .network),
  ]

  /// The codes with which a room may end: all but those of a track.
  static var ends: [CodeDeclaration] {
    [
      CodeDeclaration(
        "disconnected", "The user left the room: an end without an error.", provenance: .documented, blames: .me),
      CodeDeclaration("other", "A code that this profile does not know.", provenance: .harnessDefault, blames: .server),
    ]
      + table.filter { !isOfTrack($0.code) }.map {
        CodeDeclaration($0.code, $0.meaning, provenance: .documented, blames: $0.blame)
      }
  }

  /// The codes that are raised beside the end: for a reconnection, and for a track.
  static var raised: [CodeDeclaration] {
    table.filter { ["53001", "53405"].contains($0.code) || isOfTrack($0.code) }.map {
      CodeDeclaration($0.code, $0.meaning, provenance: .documented)
    }
  }

  private static func isOfTrack(_ code: String) -> Bool { code.hasPrefix("533") || code == "53406" }

  /// All codes, for values.
  static var names: [String] { ends.map(\.name) + table.filter { isOfTrack($0.code) }.map(\.code) }

  /// Returns the end code for a code of the server.
  static func end(_ code: String) -> String { ends.contains { $0.name == code } ? code : "other" }
}
