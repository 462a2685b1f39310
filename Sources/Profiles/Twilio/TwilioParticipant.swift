internal import CallCore
internal import PeerSession
internal import SCTP
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// A participant at the server: its session, its publications, and the server's connection to it.
final class TwilioParticipant {
  /// A published track, or one that was refused.
  struct Track {
    let id: String
    let name: String
    let kind: TwilioTrackKind
    let priority: TwilioTrackPriority
    var isEnabled: Bool
    /// The publication's sid; nil before there is one, and when it was refused with ``error``.
    var sid: String?
    var error: Int64?

    /// Reads a track that a client wants published; one that lacks what it must have is refused. Returns nil for one
    /// that has no id, of which nothing can be told.
    init?(_ json: JSON) {
      guard let id = json["id"]?.string else { return nil }
      let kind = json["kind"]?.string.flatMap(TwilioTrackKind.init)
      (self.id, name, self.kind) = (id, json["name"]?.string ?? "", kind ?? .data)
      priority = json["priority"]?.string.flatMap(TwilioTrackPriority.init) ?? .standard
      isEnabled = json["enabled"]?.flag ?? false
      if json["name"]?.string == nil || kind == nil || json["enabled"]?.flag == nil { error = 53_300 }
    }
  }

  /// A published track that comes in.
  struct Publication {
    enum Content {
      case media(MediaStreamTrack)
      /// A data track, with the settings of its channel.
      case data(DataChannelInit)
    }

    let sid: String
    let content: Content
    let priority: TwilioTrackPriority
  }

  let user: String
  let identity: String
  let sid: String
  let session: String
  let negotiator: Negotiator
  var link: TwilioServerLink?
  /// The state that the others see, and its revision.
  private(set) var state = "connected"
  private(set) var revision: Int64 = 1
  var tracks: [Track] = []
  /// Those of the tracks that come in.
  var publications: [Publication] = []
  /// The revision of the client's tracks.
  var tracksRevision: Int64 = 0
  /// The senders of the tracks of others, by their sids; nil for one that the connection cannot send.
  var subscriptions: [String: Transceiver.ID?] = [:]
  /// The channels of the data tracks of others, by their sids; nil for one that the connection cannot open.
  var dataSubscriptions: [String: DataChannelID?] = [:]
  /// The channels that the participant has opened, by their labels, which are the ids of its data tracks.
  var dataChannels: [String: DataChannelSnapshot] = [:]
  /// Whether the descriptions have a section for data channels, or will.
  var hasDataSection = false
  /// What the participant asks of the way to it; nil for the smallest part of every video in any case.
  var bandwidthProfile: TwilioBandwidthProfile?
  /// Whether it asks who the dominant speaker is.
  var wantsDominantSpeaker = false
  /// Whose network quality it asks for, its own quality, and what it was told last.
  var qualityScope = TwilioQualityScope.none
  var quality = TwilioNetworkQuality()
  var toldQuality: JSON?
  /// The sids of the tracks of others that are switched off for it, sorted.
  private var switchedOff: [String] = []
  var sessionTimer: PeerTimer?
  /// Ends the session once the participant has stayed as long as it may.
  var durationTimer: PeerTimer?
  /// The client's last description.
  private var description: String?

  var seat: any PeerConnection { negotiator.connection }

  init(user: String, identity: String, sid: String, session: String, _ connection: any PeerConnection) {
    self.user = user
    self.identity = identity
    self.sid = sid
    self.session = session
    negotiator = Negotiator(connection, yields: false)
  }

  func changed(state: String? = nil) {
    revision += 1
    if let state { self.state = state }
  }

  /// What the others learn.
  var json: JSON {
    [
      "sid": .string(sid), "identity": .string(identity), "state": .string(state), "revision": .integer(revision),
      "tracks": .array(
        tracks.compactMap { track in
          track.sid.map { sid in
            [
              "sid": .string(sid), "name": .string(track.name), "kind": .string(track.kind.rawValue),
              "enabled": .bool(track.isEnabled),
            ]
          }
        }),
    ]
  }

  /// What it learns of its own tracks.
  var published: JSON {
    [
      "revision": .integer(tracksRevision),
      "tracks": .array(
        tracks.map { track in
          guard let sid = track.sid else {
            return ["id": .string(track.id), "state": "failed", "error": ["code": .integer(track.error ?? 53_300)]]
          }
          return ["id": .string(track.id), "state": "ready", "sid": .string(sid)]
        }),
    ]
  }

  /// Returns the transceiver that receives a published track.
  ///
  /// - Parameter transceivers: those of ``seat``, which are made anew each time they are asked for.
  func transceiver(of track: Track, among transceivers: [RTPTransceiver]) -> RTPTransceiver? {
    transceivers.first { $0.receiver.track.id == track.id && $0.currentDirection?.receives == true }
  }

  /// What it learns of the tracks of others that are switched off; nil without a profile.
  var switchedOffTracks: JSON? { bandwidthProfile.map { _ in .array(switchedOff.map(JSON.string)) } }

  /// Notes that the video of a sender is paused, or goes on, and tells.
  func setSwitchedOff(_ isPaused: Bool, of sender: Transceiver.ID) {
    guard let sid = subscriptions.first(where: { $0.value == sender })?.key else { return }
    switchedOff.removeAll { $0 == sid }
    if isPaused { switchedOff = (switchedOff + [sid]).sorted() }
    send("update", [("switched_off", switchedOffTracks)])
  }

  /// Forgets a track that it no longer gets.
  func unsubscribe(from sid: String) {
    subscriptions[sid] = nil
    dataSubscriptions[sid] = nil
    switchedOff.removeAll { $0 == sid }
  }

  /// Sends a body, if there is a link.
  func send(_ type: String, _ fields: [(String, JSON?)]) { link?.send(MessageContent(type, JSON.members(fields))) }

  /// Whether what a client tells of itself has a revision and tracks with ids; nothing is told in any case.
  static func canRead(_ json: JSON?) -> Bool {
    guard let json else { return true }
    guard json["revision"]?.integer != nil, let tracks = json["tracks"]?.array else { return false }
    return tracks.allSatisfy { $0["id"]?.string != nil }
  }

  // MARK: Descriptions

  /// Takes a description of the client.
  func take(_ description: JSON) throws(SessionError) {
    try negotiator.receive(description)
    self.description = description["sdp"]?.string
  }

  /// Whether an offer of the client has other ICE credentials than its last description.
  func isRestart(_ offer: JSON) -> Bool {
    guard offer["type"]?.string == "offer", let description, let sdp = offer["sdp"]?.string else { return false }
    return Negotiator.fragment(of: sdp) != Negotiator.fragment(of: description)
  }

  /// Whether the client has described a track of video without a codec; nil as codec lacks nothing.
  func lacks(_ codec: String?, for track: Track) -> Bool {
    guard let codec, track.kind == .video, let description,
      let sections = try? SessionDescription(parsing: description).media,
      let section = sections.first(where: { $0.attributes.streamIDs.contains { $0.track == track.id } })
    else { return false }
    return !section.codecs.contains { $0.name.lowercased() == codec.lowercased() }
  }

  /// Ends the connection and the session.
  func close() {
    sessionTimer?.cancel()
    durationTimer?.cancel()
    seat.close()
  }
}
