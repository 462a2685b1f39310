internal import CallCore
internal import Codecs
internal import RTP
internal import SDP

/// One transceiver's media: the stream its track is sent in, and the stream that is heard.
final class AudioChannel {
  /// A track of ours.
  struct Track {
    /// Its place among all the session ever had.
    let number: Int
    /// What descriptions say of it.
    let sender: Transceiver.Sender
  }

  let transceiver: Transceiver.ID
  private let configuration: SessionConfiguration
  /// The section it is negotiated in, or the far side has announced a track in; nil before.
  var mid: String?
  /// What is sent; nil without a track.
  private(set) var track: Track?
  /// Whether we ended it ourselves.
  private(set) var isStopped = false
  /// Disabled, the track is silence (W3C `track.enabled`).
  var isEnabled: Bool
  /// The far side's name for its track.
  private(set) var remoteTrackID: String?
  /// Whether the far side says that it sends a track here.
  var isAnnounced = false
  /// Whether the far side's track gives nothing: from its announcement to its first packet, and once it is removed or
  /// over (W3C `track.muted`).
  var isMuted = true
  /// What the track's source gives, sent or not.
  private(set) var source = AudioLevelMeter()
  /// Whether feedback may leave without a report in front (RFC 5506).
  private(set) var usesReducedSizeRTCP = false
  private var silence: [Int16] = []
  private(set) var send: AudioSendStream?
  private(set) var receive: AudioReceiveStream?

  init(_ transceiver: Transceiver.ID, configuration: SessionConfiguration, isEnabled: Bool) {
    self.transceiver = transceiver
    self.configuration = configuration
    self.isEnabled = isEnabled
  }

  // MARK: Tracks

  func setTrack(_ track: Track) {
    self.track = track
    source = AudioLevelMeter()
  }

  /// - Returns: the source that ends with it, when the far side may have heard of it.
  func removeTrack() -> UInt32? {
    let source = send?.hasSent == true ? track?.sender.ssrc : nil
    track = nil
    send = nil
    return source
  }

  func stop() {
    isStopped = true
    receive = nil
  }

  // MARK: Samples

  /// Takes what the track's source gives; disabled, it is silence.
  func record(_ samples: Span<Int16>) {
    guard track != nil else { return }
    source.add(peak: isEnabled ? peakMagnitude(samples) : 0, samples: samples.count)
    guard !isEnabled else {
      send?.append(samples)
      return
    }
    if silence.count != samples.count { silence = Array(repeating: 0, count: samples.count) }
    let quiet = silence
    send?.append(quiet.span)
  }

  func record(_ level: AudioLevel, duration: Interval) {
    guard track != nil else { return }
    let level = isEnabled ? level : .silence
    source.add(peak: level.linear, samples: Int(duration.nanoseconds * 48 / 1_000_000))
    send?.append(level, duration: duration)
  }

  // MARK: Negotiation

  /// Takes what a negotiation came to; nil when the section is rejected. Streams outlive a hold, with their numbers and
  /// counts.
  func apply(_ media: NegotiatedMedia?, midExtensionID: UInt8?, random: RandomSource) {
    mid = media?.mid ?? mid
    remoteTrackID = media?.remoteStreamIDs.first?.track ?? remoteTrackID
    applySending(media, midExtensionID: midExtensionID, random: random)
    usesReducedSizeRTCP = media?.reducedSizeRTCP ?? usesReducedSizeRTCP
    let codecs = media.flatMap { $0.direction.receives && !isStopped ? $0.receiveCodecs : nil } ?? []
    if receive == nil, !codecs.isEmpty { receive = AudioReceiveStream(fidelity: configuration.media) }
    receive?.isActive = !codecs.isEmpty
    receive?.accept(codecs)
    forgetWhatIsOver()
  }

  private func applySending(_ media: NegotiatedMedia?, midExtensionID: UInt8?, random: RandomSource) {
    let wasActive = send?.isActive ?? false
    send?.isActive = false
    guard let track, let media, media.direction.sends, let codec = media.sendCodecs.first else {
      if Defect.heldStreamStartsAfresh.isPlanted { send = nil }
      return
    }
    let stream =
      send
      ?? AudioSendStream(
        settings: configuration.audio, fidelity: configuration.media, media: media, codec: codec,
        ssrc: track.sender.ssrc, random: random.stream(track.number == 0 ? "rtp" : "rtp/\(track.number)"))
    send = stream
    stream.isActive = true
    stream.update(media, codec)
    if !wasActive, let midExtensionID { stream.identify(media.mid, extensionID: midExtensionID) }
  }

  /// The far side sends no more in this section and every source of it has said goodbye.
  func forgetWhatIsOver() {
    if let stream = receive, !stream.isActive, stream.isOver { receive = nil }
  }
}
