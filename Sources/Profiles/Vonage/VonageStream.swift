internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// A client of a session, as the server tells of it.
struct VonageConnection: Equatable, Sendable {
  let id: String
  let user: String

  init(id: String, user: String) { (self.id, self.user) = (id, user) }

  init?(_ json: JSON) {
    guard let id = json["id"]?.string, let user = json["user"]?.string else { return nil }
    (self.id, self.user) = (id, user)
  }

  var json: JSON { ["id": .string(id), "user": .string(user)] }
}

/// A stream of a session: what one publisher of a client sends.
public struct VonageStream: Equatable, Sendable {
  /// The id that the server has given it.
  public let id: String
  let connection: VonageConnection
  /// The publisher's name for it.
  public let name: String
  /// Whether it has sound.
  public internal(set) var hasAudio: Bool
  /// Whether it has pictures.
  public internal(set) var hasVideo: Bool
  /// The user who publishes it.
  public var user: String { connection.user }

  init(id: String, connection: VonageConnection, name: String, hasAudio: Bool, hasVideo: Bool) {
    (self.id, self.connection, self.name) = (id, connection, name)
    (self.hasAudio, self.hasVideo) = (hasAudio, hasVideo)
  }

  init?(_ json: JSON) {
    guard let id = json["id"]?.string, let connection = json["connection"].flatMap(VonageConnection.init),
      let name = json["name"]?.string, let hasAudio = json["hasAudio"]?.flag, let hasVideo = json["hasVideo"]?.flag
    else { return nil }
    self.init(id: id, connection: connection, name: name, hasAudio: hasAudio, hasVideo: hasVideo)
  }

  var json: JSON {
    [
      "id": .string(id), "connection": connection.json, "name": .string(name), "hasAudio": .bool(hasAudio),
      "hasVideo": .bool(hasVideo),
    ]
  }

  /// The identifier of its track of a kind in descriptions.
  static func track(_ kind: MediaKind, of stream: String) -> String { "\(stream).\(kind.rawValue)" }

  /// The stream of a track's identifier.
  static func stream(ofTrack id: String) -> String { id.split(separator: ".").first.map(String.init) ?? id }
}
