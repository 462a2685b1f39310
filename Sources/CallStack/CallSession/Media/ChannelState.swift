internal import CallCore
internal import SDP

/// A track of ours.
struct LocalTrack {
  /// Its place among all of its kind the session ever had.
  let number: Int
  /// What descriptions say of it.
  let sender: Transceiver.Sender
  /// What is sent; nil for nothing, which nobody is told of.
  var source: MediaStreamTrack?
}

/// What channels of every kind keep of their transceiver and its two tracks.
struct ChannelState {
  let transceiver: Transceiver.ID
  /// The section it is negotiated in, or the far side has announced a track in; nil before.
  var mid: String?
  /// What is sent; nil without a track.
  var track: LocalTrack?
  var parameters = EncodingParameters()
  /// Whether a sender that may send has nothing to send (W3C `replaceTrack(null)`, `active`).
  var isSuspended: Bool { track?.source == nil || !parameters.isActive }
  /// Whether we ended it ourselves.
  var isStopped = false
  /// The far side's name for its track.
  var remoteTrackID: String?
  /// Whether the far side says that it sends a track here.
  var isAnnounced = false
  /// Whether the far side's track gives nothing: from its announcement to its first packet, and once it is removed or
  /// over (W3C `track.muted`).
  var isMuted = true
  /// Whether feedback may leave without a report in front (RFC 5506).
  var usesReducedSizeRTCP = false

  init(_ transceiver: Transceiver.ID) { self.transceiver = transceiver }

  /// Takes what a negotiation came to; nil when the section is rejected.
  mutating func apply(_ media: NegotiatedMedia?) {
    guard let media else { return }
    mid = media.mid
    remoteTrackID = media.remoteStreamIDs.first?.track ?? remoteTrackID
    usesReducedSizeRTCP = media.reducedSizeRTCP
  }
}
