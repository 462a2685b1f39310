package import CallCore

/// The members of W3C's `inbound-rtp` from the RTP layer. Times are in seconds unless they are instants.
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

/// The members of W3C's `outbound-rtp` from the RTP layer.
package struct OutboundRTPStatistics: Hashable, Sendable {
  package var packetsSent: Int64 = 0
  package var bytesSent: Int64 = 0
  package var headerBytesSent: Int64 = 0
  package var retransmittedPacketsSent: Int64 = 0
  package var retransmittedBytesSent: Int64 = 0
  package var nackCount: Int64 = 0

  package init() {}
}

/// W3C's `remote-inbound-rtp`: the remote reception of our stream, from report blocks.
package struct RemoteInboundRTPStatistics: Hashable, Sendable {
  /// The number of received report blocks about the stream.
  package var reportsReceived: Int64 = 0
  package var packetsLost: Int64 = 0
  /// The fraction lost, 0 to 1.
  package var fractionLost = 0.0
  package var jitter = 0.0
  /// The last measured round trip; nil before the first.
  package var roundTripTime: Interval?
  package var totalRoundTripTime = Interval.zero
  package var roundTripTimeMeasurements: Int64 = 0

  package init() {}
}

/// W3C's `remote-outbound-rtp`: the remote counters of sent media, from sender reports.
package struct RemoteOutboundRTPStatistics: Hashable, Sendable {
  package var packetsSent: UInt32 = 0
  package var bytesSent: UInt32 = 0
  package var remoteTimestamp: NTPTime?
  package var reportsSent: Int64 = 0

  package init() {}
}
