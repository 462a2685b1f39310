internal import Vocabulary

/// The error codes that a client can see, of the domain `com.twilio.video`.
enum TwilioCode {
  /// What a code is about.
  private enum Surface {
    /// The end of a room, or of the attempt to connect.
    case room
    /// That, and a reconnection before it.
    case reconnection
    /// A track that is given up, or a message on it.
    case track
    /// The attempt to connect, or a track.
    case roomOrTrack
  }

  /// A code: what it means, who is to blame for a call that it ends, and what it is about.
  private static let table: [(code: String, meaning: String, blame: CodeDeclaration.Blame, surface: Surface)] = [
    ("20101", "The token is malformed.", .me, .room),
    ("20102", "The token's header is invalid.", .me, .room),
    ("20103", "The token's issuer or subject is invalid.", .me, .room),
    ("20104", "The token has expired.", .time, .room),
    ("20105", "The token is not valid yet.", .time, .room),
    ("20106", "The token's grants are invalid.", .me, .room),
    ("20107", "The token's signature is invalid.", .me, .room),
    ("53000", "No connection to the signalling server.", .network, .room),
    ("53001", "The signalling connection was lost and not recovered.", .network, .reconnection),
    ("53002", "The session has expired.", .time, .room),
    ("53003", "The client got a message that it cannot use.", .server, .room),
    ("53004", "The client sent a message that the server cannot use.", .me, .room),
    ("53006", "The server is too busy.", .server, .room),
    ("53100", "The room's name is invalid.", .me, .room),
    ("53101", "The room's name is too long.", .me, .room),
    ("53102", "The room's name has an invalid character.", .me, .room),
    ("53103", "The room cannot be created.", .server, .room),
    ("53104", "The room cannot be connected to.", .server, .room),
    ("53105", "The room is full.", .server, .room),
    ("53106", "There is no such room.", .server, .room),
    ("53118", "The room was completed.", .server, .room),
    ("53119", "The account has as many rooms as it may have.", .server, .room),
    ("53124", "The room cannot be for audio alone.", .server, .room),
    ("53125", "The room takes no track of this kind.", .me, .track),
    ("53200", "The identity is invalid.", .me, .room),
    ("53201", "The identity is too long.", .me, .room),
    ("53202", "The identity has an invalid character.", .me, .room),
    ("53203", "The participant publishes as many tracks as it may.", .me, .track),
    ("53204", "The server does not know the participant.", .server, .room),
    ("53205", "Another participant took this identity.", .server, .room),
    ("53206", "The account has as many participants as it may have.", .server, .room),
    ("53216", "The participant has stayed as long as it may.", .time, .room),
    ("53300", "The track is invalid.", .me, .track),
    ("53301", "The track's name is invalid.", .me, .track),
    ("53302", "The track's name is too long.", .me, .track),
    ("53303", "The track's name has an invalid character.", .me, .track),
    ("53304", "The participant has a track of that name already.", .me, .track),
    ("53305", "The server has no capacity for the track.", .server, .track),
    ("53306", "A message on a data track is too large.", .me, .track),
    ("53307", "Too much waits to be sent on a data track.", .me, .track),
    ("53400", "The client cannot make or apply its own description.", .me, .room),
    ("53401", "The server cannot make or apply its own description.", .server, .room),
    ("53402", "The client cannot apply the server's description.", .server, .room),
    ("53403", "The server cannot apply the client's description.", .me, .room),
    ("53404", "The room has no codec in common with the client.", .me, .roomOrTrack),
    ("53405", "The media connection failed, or media stopped.", .network, .reconnection),
    ("53406", "The transport of a data track failed.", .network, .track),
    ("53407", "The DTLS handshake failed.", .network, .room),
    ("53408", "The server takes no restart of ICE.", .server, .room),
    ("53500", "The server cannot get its configuration.", .server, .room),
    ("53501", "The server cannot get TURN credentials.", .server, .room),
  ]

  /// The codes with which a room may end: all but those of a track.
  static var ends: [CodeDeclaration] {
    [
      CodeDeclaration(
        "disconnected", "The user left the room: an end without an error.", provenance: .documented, blames: .me),
      CodeDeclaration("other", "A code that this profile does not know.", provenance: .harnessDefault, blames: .server),
    ]
      + table.filter { $0.surface != .track }.map {
        CodeDeclaration($0.code, $0.meaning, provenance: .documented, blames: $0.blame)
      }
  }

  /// The codes that are raised beside the end: for a reconnection, and for a track.
  static var raised: [CodeDeclaration] {
    table.filter { $0.surface != .room }.map { CodeDeclaration($0.code, $0.meaning, provenance: .documented) }
  }

  /// The codes that the REST API alone answers with.
  static let unseen = [
    ("53107", "The REST API refuses a number of participants."), ("53108", "The REST API refuses a type of room."),
    ("53109", "The REST API refuses the timeout of a room."),
    ("53110", "The REST API refuses the method of a callback."),
    ("53111", "The REST API refuses the URL of a callback."), ("53112", "The REST API refuses the status of a room."),
    ("53113", "The REST API has a room of that name."),
    ("53114", "The REST API does not take a parameter for this type of room."),
    ("53115", "The REST API does not know the media region."),
    ("53116", "The REST API cannot use the media region now."),
    ("53117", "The REST API has no such operation on subscriptions."),
    ("53120", "The REST API refuses the rules of a recording."),
    ("53207", "The REST API refuses a number of published tracks."),
    ("53209", "The REST API refuses the status of a participant."),
    ("53215", "The REST API refuses the rules of a subscription."),
    ("53626", "The processing of a recording or composition failed."),
    ("53627", "A recording or composition could not be updated."),
  ].map { CodeDeclaration($0.0, $0.1, provenance: .documented) }

  /// All codes, for values.
  static var names: [String] { ends.map(\.name) + table.filter { $0.surface == .track }.map(\.code) }

  /// Returns a code as values have it.
  static func shown(_ code: String) -> String { names.contains(code) ? code : "other" }

  /// Returns the end code for a code of the server.
  static func end(_ code: String) -> String { ends.contains { $0.name == code } ? code : "other" }
}
