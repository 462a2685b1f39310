/// One RTCP packet out of a compound.
public enum RTCPPacket: Hashable, Sendable {
  case senderReport(SenderReport)
  case receiverReport(ReceiverReport)
  case sourceDescription([SourceDescription])
  case goodbye(Goodbye)
  case genericNACK(GenericNACK)
  case pictureLossIndication(PictureLossIndication)
  case fullIntraRequest(FullIntraRequest)
  case extendedReport(ExtendedReport)
  case transportFeedback(TransportFeedback)
  case receiverEstimate(ReceiverEstimate)
  /// A well-formed packet of a type or format nobody here reads: tolerated and counted.
  case unknown(packetType: UInt8, format: UInt8)

  /// Blocks, chunks or sources that one packet has room for: its count has five bits (RFC 3550 section 6.4).
  public static let maximumCount = 31
}

/// The packet types on the wire (RFC 3550 section 12.1, RFC 4585, RFC 3611).
enum RTCPPacketType {
  static let senderReport: UInt8 = 200
  static let receiverReport: UInt8 = 201
  static let sourceDescription: UInt8 = 202
  static let goodbye: UInt8 = 203
  static let transportFeedback: UInt8 = 205
  static let payloadFeedback: UInt8 = 206
  static let extendedReport: UInt8 = 207
}

/// What a sender says of its own stream (RFC 3550 section 6.4.1).
public struct SenderReport: Hashable, Sendable {
  public var ssrc: UInt32
  public var ntpTime: NTPTime
  public var rtpTimestamp: UInt32
  public var packetCount: UInt32
  public var octetCount: UInt32
  public var blocks: [ReportBlock]

  public init(
    ssrc: UInt32, ntpTime: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32,
    blocks: [ReportBlock] = []
  ) {
    self.ssrc = ssrc
    self.ntpTime = ntpTime
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
    self.blocks = blocks
  }
}

/// What a participant that sends nothing says of the streams it receives (RFC 3550 section 6.4.2).
public struct ReceiverReport: Hashable, Sendable {
  public var ssrc: UInt32
  public var blocks: [ReportBlock]

  public init(ssrc: UInt32, blocks: [ReportBlock] = []) {
    self.ssrc = ssrc
    self.blocks = blocks
  }
}

/// One SDES chunk. Only CNAME is kept: WebRTC forbids sending the others (RFC 8834 section 4.1).
public struct SourceDescription: Hashable, Sendable {
  public var ssrc: UInt32
  public var canonicalName: [UInt8]?

  public init(ssrc: UInt32, canonicalName: [UInt8]?) {
    self.ssrc = ssrc
    self.canonicalName = canonicalName
  }
}

public struct Goodbye: Hashable, Sendable {
  public var sources: [UInt32]
  public var reason: [UInt8]

  public init(sources: [UInt32], reason: [UInt8] = []) {
    self.sources = sources
    self.reason = reason
  }
}

/// Sequence numbers asked for again (RFC 4585 section 6.2.1).
public struct GenericNACK: Hashable, Sendable {
  public var senderSSRC: UInt32
  public var mediaSSRC: UInt32
  /// In the order of the wire: each packet identifier, then the bits of its mask from the lowest.
  public var sequenceNumbers: [UInt16]

  public init(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: [UInt16]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.sequenceNumbers = sequenceNumbers
  }
}

/// RFC 4585 section 6.3.1.
public struct PictureLossIndication: Hashable, Sendable {
  public var senderSSRC: UInt32
  public var mediaSSRC: UInt32

  public init(senderSSRC: UInt32, mediaSSRC: UInt32) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
  }
}

/// RFC 5104 section 4.3.1.
public struct FullIntraRequest: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    public var ssrc: UInt32
    /// Counts commands: the same number again is a repetition of the same request.
    public var sequenceNumber: UInt8

    public init(ssrc: UInt32, sequenceNumber: UInt8) {
      self.ssrc = ssrc
      self.sequenceNumber = sequenceNumber
    }
  }

  public var senderSSRC: UInt32
  public var entries: [Entry]

  public init(senderSSRC: UInt32, entries: [Entry]) {
    self.senderSSRC = senderSSRC
    self.entries = entries
  }
}

/// An XR packet (RFC 3611), of which only the receiver reference time is read: what `rcvr-rtt` negotiates.
public struct ExtendedReport: Hashable, Sendable {
  public var ssrc: UInt32
  public var receiverReferenceTime: NTPTime?
  /// How many blocks of other types it had.
  public var otherBlockCount: Int

  public init(ssrc: UInt32, receiverReferenceTime: NTPTime?, otherBlockCount: Int = 0) {
    self.ssrc = ssrc
    self.receiverReferenceTime = receiverReferenceTime
    self.otherBlockCount = otherBlockCount
  }
}
