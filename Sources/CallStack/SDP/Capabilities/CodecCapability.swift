/// A codec that the owner can encode and decode, with its wishes as a receiver.
public struct CodecCapability: Hashable, Sendable {
  /// The encoding name of the media subtype, such as `opus`.
  public var name: String
  /// The RTP clock rate in hertz.
  public var clockRate: UInt32
  /// The number of audio channels; 1 for video.
  public var channels: UInt8
  /// The parameters of our `a=fmtp` line: wishes as a receiver (RFC 7587 §6.1), or the variant of the codec (RFC 6184
  /// §8.1).
  package var parameters: FormatParameters
  package var feedback: [Feedback]
  /// Whether lost packets can be sent again on a separate stream (RFC 4588).
  package var retransmission: Bool
  /// The payload type to use in an offer if it is free; otherwise a dynamic one.
  package var preferredPayloadType: UInt8?

  package init(
    _ name: String, clockRate: UInt32, channels: UInt8 = 1, parameters: FormatParameters = FormatParameters(),
    feedback: [Feedback] = [], retransmission: Bool = false, preferredPayloadType: UInt8? = nil
  ) {
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
    self.retransmission = retransmission
    self.preferredPayloadType = preferredPayloadType
  }

  /// Opus (RFC 7587) with in-band FEC.
  public static let opus = CodecCapability(
    "opus", clockRate: 48_000, channels: 2, parameters: ["minptime": "10", "useinbandfec": "1"],
    feedback: [.transportCC], preferredPayloadType: 111)

  /// VP8 (RFC 7741).
  public static let vp8 = CodecCapability(
    "VP8", clockRate: 90_000, feedback: [.remb, .transportCC, .fullIntraRequest, .nack, .pictureLoss],
    retransmission: true, preferredPayloadType: 96)

  /// RED around media and ULPFEC (RFC 5109 section 14.1), with the payload type of Chromium.
  package static func red(retransmission: Bool) -> CodecCapability {
    CodecCapability("red", clockRate: 90_000, retransmission: retransmission, preferredPayloadType: 118)
  }
  /// ULPFEC (RFC 5109).
  package static let ulpfec = CodecCapability("ulpfec", clockRate: 90_000, preferredPayloadType: 120)
  /// FlexFEC of draft-ietf-payload-flexible-fec-scheme-03, with libwebrtc's repair window in microseconds.
  package static func flexFEC(feedback: [Feedback]) -> CodecCapability {
    CodecCapability(
      "flexfec-03", clockRate: 90_000, parameters: ["repair-window": "10000000"], feedback: feedback,
      preferredPayloadType: 49)
  }
}

/// The owner's capabilities for one kind of media.
package struct MediaCapabilities: Hashable, Sendable {
  /// The codecs, the preferred one first.
  package var codecs: [CodecCapability]
  /// The URIs of the supported RTP header extensions.
  package var headerExtensions: [String]
  /// The requested packet time in milliseconds (`a=ptime`).
  package var packetTime: UInt32?
  /// The maximum packet time in milliseconds (`a=maxptime`).
  package var maximumPacketTime: UInt32?
  /// Whether several encodings of one source can be received in one section (RFC 8853).
  package var receivesSimulcast = false

  package init(
    codecs: [CodecCapability], headerExtensions: [String] = [], packetTime: UInt32? = nil,
    maximumPacketTime: UInt32? = nil
  ) {
    self.codecs = codecs
    self.headerExtensions = headerExtensions
    self.packetTime = packetTime
    self.maximumPacketTime = maximumPacketTime
  }
}
