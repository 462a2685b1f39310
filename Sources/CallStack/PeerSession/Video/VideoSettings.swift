public import CallCore
package import Pictures
internal import SDP

/// Settings of the video that a session sends, and of the formats in which it sends and receives it.
public struct VideoSettings: Hashable, Sendable {
  /// A video codec, by the name of its payload format.
  public enum Codec: String, Hashable, Sendable, CaseIterable {
    /// VP8 (RFC 7741).
    case vp8 = "VP8"
    /// VP9 profile 0 (RFC 9628).
    case vp9 = "VP9"
    /// H.264 constrained baseline, non-interleaved (RFC 6184).
    case h264 = "H264"
    /// AV1 profile 0 (the AOM's RTP payload format).
    case av1 = "AV1"
  }

  /// The content of a track, which decides what is sacrificed when the rate is low (W3C `contentHint`).
  public enum Content: String, Hashable, Sendable, CaseIterable {
    /// A camera: frame rate before resolution.
    case motion
    /// A screen: resolution before frame rate.
    case detail
  }

  /// A scheme of forward error correction, beside retransmissions.
  public enum ForwardErrorCorrection: String, Hashable, Sendable, CaseIterable {
    /// None.
    case none
    /// ULPFEC inside RED, on the stream of the video (RFC 5109, RFC 2198).
    case ulpfec
    /// FlexFEC on a stream of its own (draft-ietf-payload-flexible-fec-scheme-03, `flexfec-03`).
    case flexfec
  }

  /// What estimates the bandwidth of the path, from feedback about each packet.
  public enum CongestionControl: String, Sendable, CaseIterable {
    /// Google congestion control, as in libwebrtc.
    case googleCongestionControl = "gcc"
    /// Network-Assisted Dynamic Adaptation (RFC 8698), which needs ``transportFeedback``.
    case nada
  }

  /// The codecs, the preferred one first.
  public var codecs = [Codec.vp8, .vp9, .h264]
  /// The width of captured pictures in pixels.
  public var width = 640
  /// The height of captured pictures in pixels.
  public var height = 480
  /// The captured frames per second.
  public var frameRate = 30
  /// The content of captured pictures.
  public var content = Content.motion
  /// The number of temporal layers, 1 to 3.
  public var temporalLayers = 1
  /// The number of encodings of a camera's track that `addTransceiver` adds without encodings of its own, 1 to 3: each has
  /// half of the sides of the next (simulcast, RFC 8853).
  public var simulcast = 1
  /// The rate that is assumed before the path has been measured.
  public var startBitrate = DataRate.kilobitsPerSecond(300)
  /// What estimates the bandwidth of the path.
  public var congestionControl = CongestionControl.googleCongestionControl
  /// The maximum rate of one encoding; nil for libwebrtc's for the size.
  public var maximumBitrate: DataRate?
  /// Whether lost packets are requested again (RFC 4585), if the peer agrees.
  public var nack = true
  /// Whether lost packets are sent again on a separate stream (RFC 4588), if the peer agrees.
  public var retransmission = true
  /// The forward error correction that is offered and accepted. How much is sent depends on loss and round trip.
  public var forwardErrorCorrection = ForwardErrorCorrection.none
  /// Whether key frames are requested by a picture loss indication (RFC 4585).
  public var pictureLossIndication = true
  /// Whether key frames are requested by a full intra request (RFC 5104), where the other is not negotiated.
  public var fullIntraRequest = true
  /// Whether the bandwidth is estimated from the arrival of each packet (transport-cc), if the peer agrees.
  public var transportFeedback = true
  /// Whether a limit that the remote side estimates (`goog-remb`) is obeyed. We send none.
  public var remb = true

  /// Makes the default settings.
  public init() {}

  /// A description of the first invalid setting; nil if all are valid.
  var problem: String? {
    if codecs.isEmpty { return "codecs is empty: name one at least" }
    if PictureSize(width, height) == nil || width < 16 || height < 16 {
      return "the picture is \(width) by \(height), but a side has 16 to \(PictureSize.maximumSide) pixels"
    }
    if !(1...120).contains(frameRate) { return "frameRate is \(frameRate), not 1 to 120" }
    if !(1...3).contains(temporalLayers) { return "temporalLayers is \(temporalLayers), not 1 to 3" }
    if !(1...3).contains(simulcast) { return "simulcast is \(simulcast), not 1 to 3" }
    if let maximumBitrate, maximumBitrate < Self.minimumBitrate {
      return "maximumBitrate is \(maximumBitrate), but video needs \(Self.minimumBitrate)"
    }
    return nil
  }

  /// The least rate at which libwebrtc sends video.
  static let minimumBitrate = DataRate.kilobitsPerSecond(30)

  package var size: PictureSize { PictureSize(width, height) ?? .vga }

  /// The encodings of ``simulcast``, the smallest first, with the names that are usual: quarter, half, full.
  package var encodings: [EncodingParameters] {
    simulcast < 2 ? [] : ["q", "h", "f"].suffix(simulcast).map { EncodingParameters(rid: $0) }
  }
}

extension VideoSettings {
  /// The media capabilities that descriptions announce for these settings.
  var capabilities: MediaCapabilities {
    var feedback: [Feedback] = []
    if remb { feedback.append(.remb) }
    if transportFeedback { feedback.append(.transportCC) }
    if fullIntraRequest { feedback.append(.fullIntraRequest) }
    if nack { feedback.append(.nack) }
    if pictureLossIndication { feedback.append(.pictureLoss) }
    var formats: [CodecCapability] = []
    for codec in codecs where !formats.contains(where: { $0.name == codec.rawValue }) {
      let (parameters, payloadType) = Self.format(of: codec)
      formats.append(
        CodecCapability(
          codec.rawValue, clockRate: 90_000, parameters: parameters, feedback: feedback,
          retransmission: retransmission, preferredPayloadType: payloadType))
    }
    switch forwardErrorCorrection {
    case .none: break
    case .ulpfec: formats += [.red(retransmission: retransmission), .ulpfec]
    case .flexfec: formats.append(.flexFEC(feedback: feedback.filter { [.remb, .transportCC].contains($0) }))
    }
    let extensions =
      [MediaExtensions.midURI] + (transportFeedback ? [MediaExtensions.transportNumberURI] : [])
      + [MediaExtensions.ridURI, MediaExtensions.repairedRIDURI]
    var capabilities = MediaCapabilities(codecs: formats, headerExtensions: extensions)
    capabilities.receivesSimulcast = true
    return capabilities
  }

  /// The parameters of a format, and the payload type that Chromium gives it.
  private static func format(of codec: Codec) -> (FormatParameters, UInt8) {
    switch codec {
    case .vp8: ([:], 96)
    case .vp9: (["profile-id": "0"], 98)
    case .av1: (["level-idx": "5", "profile": "0", "tier": "0"], 45)
    case .h264: (["level-asymmetry-allowed": "1", "packetization-mode": "1", "profile-level-id": "42e01f"], 102)
    }
  }
}
