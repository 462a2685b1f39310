internal import CallCore
internal import SDP

/// A local track.
struct LocalTrack {
  /// The index among all tracks that the session ever had.
  let number: Int
  /// The sender's identifiers in descriptions.
  let sender: Transceiver.Sender
  /// The source that is sent; nil for none, which is not signalled.
  var source: MediaStreamTrack?
}

/// The state of a transceiver and its two tracks, for channels of every kind.
final class ChannelState {
  let transceiver: Transceiver.ID
  /// The MID of its section; nil before the transceiver is negotiated or the remote side has announced a track.
  var mid: String?
  /// The local track; nil if there is none.
  var track: LocalTrack?
  /// The parameters of its encodings; never empty.
  var encodings = [EncodingParameters()]
  /// Whether a sender has nothing to send although it may (W3C `replaceTrack(null)`, `active`).
  var isSuspended: Bool { attachedTrack == nil || !encodings[0].isActive }
  /// The local track while it has a source.
  var attachedTrack: LocalTrack? { track?.source == nil ? nil : track }
  /// Whether we stopped the transceiver.
  var isStopped = false
  /// The remote track's identifier.
  var remoteTrackID: String?
  /// The media stream that the remote track belongs to; nil for none.
  private(set) var remoteStreamID: String?
  /// Whether the remote side announces a track here.
  var isAnnounced = false
  /// Whether the remote track is muted: from its announcement to its first packet, and after its removal or BYE (W3C
  /// `track.muted`).
  var isMuted = true
  /// Whether feedback may be sent without a preceding report (RFC 5506).
  var usesReducedSizeRTCP = false

  init(_ transceiver: Transceiver.ID) { self.transceiver = transceiver }

  /// Returns whether a call about one transceiver, or with nil about all, is about this one.
  func isMeant(by transceiver: Transceiver.ID?) -> Bool { transceiver == nil || self.transceiver == transceiver }

  /// Takes a packet of the remote track, of which the first ends its muting. Between the offer and the answer of a hold,
  /// packets of a removed track still arrive.
  ///
  /// - Parameter isNews: whether the packet shows that its source is active.
  func receivedMedia(isNews: Bool) -> MediaChannel.Reception {
    guard isMuted, isAnnounced, isNews, let mid else { return .taken }
    isMuted = false
    return .unmuted(mid: mid)
  }

  /// Takes what became of a packet.
  func received(_ reception: VideoReceiveStream.Reception) -> MediaChannel.Reception {
    switch reception {
    case .taken(let isNews): receivedMedia(isNews: isNews)
    case .unknownPayloadType: .unknownPayloadType
    case .unknownSource: .unexpected
    }
  }

  /// Returns the codecs that are received by the result of a negotiation.
  func receiveCodecs(of media: NegotiatedMedia?) -> [NegotiatedCodec] {
    guard let media, media.direction.receives, !isStopped else { return [] }
    return media.receiveCodecs
  }

  /// Applies the result of a negotiation; nil when the section is rejected.
  func apply(_ media: NegotiatedMedia?) {
    guard let media else { return }
    mid = media.mid
    remoteTrackID = media.remoteStreamIDs.first?.track ?? remoteTrackID
    remoteStreamID = media.remoteStreamIDs.first.map(\.stream).flatMap { $0 == "-" ? nil : $0 }
    usesReducedSizeRTCP = media.reducedSizeRTCP
  }
}
