package import CallCore

/// What W3C's `inbound-rtp` says that the RTP layer knows. Times are seconds unless they are instants.
package struct InboundRTPStatistics: Hashable, Sendable {
  package var packetsReceived: Int64 = 0
  package var bytesReceived: Int64 = 0
  package var headerBytesReceived: Int64 = 0
  package var packetsLost: Int64 = 0
  package var jitter = 0.0
  package var lastPacketReceivedTimestamp: Instant?
  package var packetsReceivedWithEct1: Int64 = 0
  package var packetsReceivedWithCe: Int64 = 0
  package var nackCount: Int64 = 0

  package init() {}
}

/// What W3C's `outbound-rtp` says that the RTP layer knows.
package struct OutboundRTPStatistics: Hashable, Sendable {
  package var packetsSent: Int64 = 0
  package var bytesSent: Int64 = 0
  package var headerBytesSent: Int64 = 0
  package var retransmittedPacketsSent: Int64 = 0
  package var retransmittedBytesSent: Int64 = 0
  package var nackCount: Int64 = 0

  package init() {}
}

/// W3C's `remote-inbound-rtp`: how the other side receives our stream, by its report blocks.
package struct RemoteInboundRTPStatistics: Hashable, Sendable {
  /// Blocks about the stream that have come.
  package var reportsReceived: Int64 = 0
  package var packetsLost: Int64 = 0
  /// 0 to 1.
  package var fractionLost = 0.0
  package var jitter = 0.0
  /// The last round trip measured, or nil before one.
  package var roundTripTime: Interval?
  package var totalRoundTripTime = Interval.zero
  package var roundTripTimeMeasurements: Int64 = 0

  package init() {}
}

/// W3C's `remote-outbound-rtp`: what the other side says it sent, by its sender reports.
package struct RemoteOutboundRTPStatistics: Hashable, Sendable {
  package var packetsSent: UInt32 = 0
  package var bytesSent: UInt32 = 0
  package var remoteTimestamp: NTPTime?
  package var reportsSent: Int64 = 0

  package init() {}
}
