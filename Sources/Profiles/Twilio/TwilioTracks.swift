internal import PeerSession
internal import SCTP
internal import SDP
internal import VirtualPeer

/// The kinds of track that a room has.
enum TwilioTrackKind: String {
  case audio, video, data

  /// The kind of its media; nil for data.
  var media: MediaKind? { MediaKind(rawValue: rawValue) }

  /// The word in callbacks.
  var word: String {
    switch self {
    case .audio: "Audio"
    case .video: "Video"
    case .data: "Data"
    }
  }
}

/// A local track that is published, or is to be.
struct TwilioPublication {
  let track: TwilioLocalTrack
  /// The identifier in descriptions.
  let id: String
  var priority = TwilioTrackPriority.standard
  /// Its sender, once it is on the connection.
  var sender: Transceiver.ID?
  /// The publication's sid; nil until the server has given one.
  var sid: String?

  var kind: MediaKind { track.kind }
  /// The word for its kind in callbacks.
  var word: String { kind == .audio ? "Audio" : "Video" }

  var json: JSON {
    [
      "id": .string(id), "name": .string(track.name), "kind": .string(kind.rawValue),
      "enabled": .bool(track.isEnabled), "priority": .string(priority.rawValue),
    ]
  }
}

/// A local data track: one data channel, whose label is the identifier of the track.
struct TwilioLocalDataTrack {
  let id: String
  let name: String
  let channel: DataChannelID
  /// The publication's sid; nil until the server has given one.
  var sid: String?

  var json: JSON {
    ["id": .string(id), "name": .string(name), "kind": .string(TwilioTrackKind.data.rawValue), "enabled": true]
  }
}

/// Another participant, as the server told of it.
public struct TwilioRemoteParticipant: Equatable, Sendable {
  struct Track: Equatable, Sendable {
    let sid: String
    let name: String
    let kind: TwilioTrackKind
    var isEnabled: Bool

    init?(_ json: JSON) {
      guard let sid = json["sid"]?.string, let name = json["name"]?.string, let isEnabled = json["enabled"]?.flag,
        let kind = json["kind"]?.string.flatMap(TwilioTrackKind.init)
      else { return nil }
      (self.sid, self.name, self.kind, self.isEnabled) = (sid, name, kind, isEnabled)
    }
  }

  /// The sid that the server has given it.
  public let sid: String
  /// The identity in its token.
  public let identity: String
  let revision: Int64
  /// `connected`, `reconnecting` or `disconnected`.
  let state: String
  let tracks: [Track]

  init?(_ json: JSON) {
    guard let sid = json["sid"]?.string, let identity = json["identity"]?.string,
      let revision = json["revision"]?.integer, let state = json["state"]?.string,
      ["connected", "reconnecting", "disconnected"].contains(state)
    else { return nil }
    (self.sid, self.identity, self.revision, self.state) = (sid, identity, revision, state)
    guard let list = json["tracks"]?.array else { return nil }
    tracks = list.compactMap(Track.init)
    guard tracks.count == list.count else { return nil }
  }

  /// Reads a list of participants; nil if one of them cannot be read.
  static func list(_ json: JSON?) -> [TwilioRemoteParticipant]? {
    guard let list = json?.array else { return nil }
    let participants = list.compactMap(TwilioRemoteParticipant.init)
    return participants.count == list.count ? participants : nil
  }
}
