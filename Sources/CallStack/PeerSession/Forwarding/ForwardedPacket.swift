package import CallCore
package import RTP
public import SDP

/// A packet of media that a connection received, for other connections to send on.
///
/// Every packet comes once: those that were sent again come as the originals.
public struct ForwardedPacket: Sendable {
  /// The transceiver that received it.
  public let transceiver: Transceiver.ID
  /// The SSRC of its source.
  package let ssrc: UInt32
  /// The number of its stream on the transceiver: a new source has another, and so has one whose numbers begin anew.
  package let stream: Int
  /// Its sequence number, extended so that it never wraps.
  package let number: Int64
  package let timestamp: UInt32
  package let marker: Bool
  /// The format, as the receiving connection negotiated it.
  package let codec: NegotiatedCodec
  /// The encoding of a simulcast, by its place in the section; zero where there is one.
  package let encoding: Int
  /// The temporal layer of its frame.
  package let layer: ForwardedLayer
  /// The rate at which this encoding was received lately up to this layer, with all headers; nil when it has just begun.
  package let rate: DataRate?
  /// Whether a decoder can begin here: true for audio, for video at the first packet of a key frame.
  package let isEntry: Bool
  /// The numbers of its picture; nil for a format in which a gap between them means nothing.
  package let picture: ForwardedPicture?
  /// The level of its audio, as the sender says it; nil for video, and where the two have not agreed on levels.
  public internal(set) var audioLevel: AudioLevelIndication?
  package let payload: [UInt8]
}

/// The numbers of a picture of VP8 (RFC 7741 section 4.2) or of the synthetic codec, extended so that they never wrap.
package struct ForwardedPicture: Hashable, Sendable {
  package let id: Int64
  /// The number of its base frame (TL0PICIDX); 0 where there is none.
  package let base: Int64
  /// Where the numbers stand in the payload: in the descriptor of VP8, or that of the synthetic codec.
  package let format: VideoFormat
}

extension NegotiatedCodec {
  /// Whether payloads of another connection's codec can be sent as those of this one: the same format, in the same
  /// variant (RFC 6184 section 8.1, RFC 9628 section 6.1).
  func carries(_ other: NegotiatedCodec) -> Bool {
    guard clockRate == other.clockRate, channels == other.channels, isNamed(other.name) else { return false }
    return ["packetization-mode", "profile-id"].allSatisfy { parameters[$0] ?? "0" == other.parameters[$0] ?? "0" }
  }
}

extension MediaCapabilities {
  /// The part that a forwarding connection has: packets that hold several others, or repair others, end at each
  /// connection.
  var forwardable: MediaCapabilities {
    var capabilities = self
    capabilities.codecs.removeAll { ["red", "ulpfec", "flexfec-03"].contains($0.name.lowercased()) }
    return capabilities
  }
}
