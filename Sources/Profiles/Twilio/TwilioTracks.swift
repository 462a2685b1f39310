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
struct TwilioLocalTrack {
  let kind: MediaKind
  /// The identifier in descriptions.
  let id: String
  let name: String
  var priority = TwilioTrackPriority.standard
  /// Whether the user wants it on.
  var isWanted = true
  /// Whether the device gives nothing for it.
  var isInterrupted = false
  var isEnabled: Bool { isWanted && !isInterrupted }
  /// Its sender, once it is on the connection.
  var sender: Transceiver.ID?
  /// The publication's sid; nil until the server has given one.
  var sid: String?

  /// The word for its kind in callbacks.
  var word: String { kind == .audio ? "Audio" : "Video" }

  var json: JSON {
    [
      "id": .string(id), "name": .string(name), "kind": .string(kind.rawValue), "enabled": .bool(isEnabled),
      "priority": .string(priority.rawValue),
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
struct TwilioRemote: Equatable {
  struct Track: Equatable {
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

  let sid: String
  let identity: String
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
    tracks = (json["tracks"]?.array ?? []).compactMap(Track.init)
  }
}
