public import CallCore
package import SDP

/// The parameters of one encoding (W3C `RTCRtpEncodingParameters`).
public struct EncodingParameters: Hashable, Sendable {
  /// The name among several encodings; nil for a single one.
  public var rid: String?
  /// Whether it is sent.
  public var isActive = true
  /// The maximum bitrate of the encoder; nil for no limit.
  public var maxBitrate: DataRate?
  /// The factor by which both sides of video are divided, 1 or more; nil for the usual one.
  public var scaleResolutionDownBy: Double?
  /// The maximum number of video frames per second; nil for no limit.
  public var maxFramerate: Double?

  /// Makes the parameters of an encoding.
  public init(
    rid: String? = nil, isActive: Bool = true, maxBitrate: DataRate? = nil, scaleResolutionDownBy: Double? = nil,
    maxFramerate: Double? = nil
  ) {
    self.rid = rid
    self.isActive = isActive
    self.maxBitrate = maxBitrate
    self.scaleResolutionDownBy = scaleResolutionDownBy
    self.maxFramerate = maxFramerate
  }
}

/// The parameters of a sender (W3C `RTCRtpSendParameters`), to be requested, changed, and set.
public struct SendParameters: Hashable, Sendable {
  /// W3C `RTCRtpCodecParameters`.
  public struct Codec: Hashable, Sendable {
    /// The RTP payload type, 0 to 127.
    public let payloadType: UInt8
    /// The media type, for example `audio/opus`.
    public let mimeType: String
    /// The RTP clock rate in hertz.
    public let clockRate: UInt32
    /// The number of audio channels; 1 for video.
    public let channels: UInt8
    package let parameters: FormatParameters

    package init(
      payloadType: UInt8, mimeType: String, clockRate: UInt32, channels: UInt8, parameters: FormatParameters
    ) {
      self.payloadType = payloadType
      self.mimeType = mimeType
      self.clockRate = clockRate
      self.channels = channels
      self.parameters = parameters
    }
  }

  /// The number that identifies the request these parameters came from.
  public let transaction: UInt64
  /// The encodings; their number and names must not change.
  public var encodings: [EncodingParameters]
  /// The negotiated codecs; the first is used for sending.
  public let codecs: [Codec]
  package let headerExtensions: [HeaderExtension]
  /// The RTCP canonical name.
  public let cname: String
  /// Whether RTCP packets may be sent outside of compound ones (RFC 5506).
  public let usesReducedSizeRTCP: Bool

  package init(
    transaction: UInt64, encodings: [EncodingParameters], codecs: [Codec], headerExtensions: [HeaderExtension],
    cname: String, usesReducedSizeRTCP: Bool
  ) {
    self.transaction = transaction
    self.encodings = encodings
    self.codecs = codecs
    self.headerExtensions = headerExtensions
    self.cname = cname
    self.usesReducedSizeRTCP = usesReducedSizeRTCP
  }
}

extension [EncodingParameters] {
  /// Returns the encodings that `addTransceiver` uses (webrtc-pc section 5.1): at least one, and of audio no more.
  ///
  /// - Throws: `type` for invalid names, `range` for invalid numbers.
  func checked(_ kind: MediaKind) throws(SessionError) -> [EncodingParameters] {
    let rids = compactMap(\.rid)
    if let rid = rids.first(where: { !$0.isRestrictionID }) {
      throw .type("rid '\(rid)' must have 1 to 255 letters, digits, '-' or '_'")
    }
    if count > 1, rids.count != count { throw .type("each of several encodings needs a rid") }
    if Set(rids).count != rids.count { throw .type("two encodings have the same rid") }
    for encoding in self { try encoding.check(kind) }
    if kind == .video, count > 1 { return self }
    var first = first ?? EncodingParameters()
    first.rid = nil
    return [first]
  }
}

extension EncodingParameters {
  func check(_ kind: MediaKind) throws(SessionError) {
    if kind == .audio, scaleResolutionDownBy != nil || maxFramerate != nil {
      throw .type("scaleResolutionDownBy and maxFramerate are for video")
    }
    if let scaleResolutionDownBy, !(scaleResolutionDownBy >= 1) {
      throw .range("scaleResolutionDownBy is \(scaleResolutionDownBy), but must be 1 or more")
    }
    if let maxFramerate, !(maxFramerate >= 0) {
      throw .range("maxFramerate is \(maxFramerate), but must not be negative")
    }
    if let maxBitrate, maxBitrate.bitsPerSecond <= 0 {
      throw .range("maxBitrate is \(maxBitrate), but must be above 0")
    }
  }
}
