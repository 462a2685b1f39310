/// One RTCP packet of a compound.
package enum RTCPPacket: Hashable, Sendable {
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
  case congestionFeedback(CongestionFeedback)
  case lossNotification(LossNotification)
  /// A well-formed packet of an unsupported type or format, which is ignored.
  case unknown(packetType: UInt8, format: UInt8)

  /// The maximum number of blocks, chunks or sources in one packet: the count has five bits (RFC 3550 section 6.4).
  package static let maximumCount = 31
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

/// A sender report about the sender's own stream (RFC 3550 section 6.4.1).
package struct SenderReport: Hashable, Sendable {
  package var ssrc: UInt32
  package var ntpTime: NTPTime
  package var rtpTimestamp: UInt32
  package var packetCount: UInt32
  package var octetCount: UInt32
  package var blocks: [ReportBlock]

  package init(
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

/// A receiver report, from a participant that sends nothing (RFC 3550 section 6.4.2).
package struct ReceiverReport: Hashable, Sendable {
  package var ssrc: UInt32
  package var blocks: [ReportBlock]

  package init(ssrc: UInt32, blocks: [ReportBlock] = []) {
    self.ssrc = ssrc
    self.blocks = blocks
  }
}

/// One SDES chunk. Only CNAME is kept: WebRTC forbids sending the others (RFC 8834 section 4.1).
package struct SourceDescription: Hashable, Sendable {
  package var ssrc: UInt32
  package var canonicalName: [UInt8]?

  package init(ssrc: UInt32, canonicalName: [UInt8]?) {
    self.ssrc = ssrc
    self.canonicalName = canonicalName
  }
}

package struct Goodbye: Hashable, Sendable {
  package var sources: [UInt32]
  package var reason: [UInt8]

  package init(sources: [UInt32], reason: [UInt8] = []) {
    self.sources = sources
    self.reason = reason
  }
}

/// A NACK: sequence numbers requested again (RFC 4585 section 6.2.1).
package struct GenericNACK: Hashable, Sendable {
  package var senderSSRC: UInt32
  package var mediaSSRC: UInt32
  /// The sequence numbers in wire order: each packet identifier, then the bits of its mask from the lowest.
  package var sequenceNumbers: [UInt16]

  package init(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: [UInt16]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.sequenceNumbers = sequenceNumbers
  }
}

/// A picture loss indication (RFC 4585 section 6.3.1).
package struct PictureLossIndication: Hashable, Sendable {
  package var senderSSRC: UInt32
  package var mediaSSRC: UInt32

  package init(senderSSRC: UInt32, mediaSSRC: UInt32) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
  }
}

/// A full intra request (RFC 5104 section 4.3.1).
package struct FullIntraRequest: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    package var ssrc: UInt32
    /// The command number; the same number again repeats the same request.
    package var sequenceNumber: UInt8

    package init(ssrc: UInt32, sequenceNumber: UInt8) {
      self.ssrc = ssrc
      self.sequenceNumber = sequenceNumber
    }
  }

  package var senderSSRC: UInt32
  package var entries: [Entry]

  package init(senderSSRC: UInt32, entries: [Entry]) {
    self.senderSSRC = senderSSRC
    self.entries = entries
  }
}

/// An XR packet (RFC 3611). Only the receiver reference time, which `rcvr-rtt` negotiates, is read.
package struct ExtendedReport: Hashable, Sendable {
  package var ssrc: UInt32
  package var receiverReferenceTime: NTPTime?
  /// The number of blocks of other types.
  package var otherBlockCount: Int

  package init(ssrc: UInt32, receiverReferenceTime: NTPTime?, otherBlockCount: Int = 0) {
    self.ssrc = ssrc
    self.receiverReferenceTime = receiverReferenceTime
    self.otherBlockCount = otherBlockCount
  }
}
