public import CallCore

/// What W3C's `inbound-rtp` says that the RTP layer knows. Times are seconds unless they are instants.
public struct InboundRTPStatistics: Hashable, Sendable {
  public var packetsReceived: Int64 = 0
  public var bytesReceived: Int64 = 0
  public var headerBytesReceived: Int64 = 0
  public var packetsLost: Int64 = 0
  public var jitter = 0.0
  public var lastPacketReceivedTimestamp: Instant?
  public var packetsReceivedWithEct1: Int64 = 0
  public var packetsReceivedWithCe: Int64 = 0
  public var nackCount: Int64 = 0

  public init() {}
}

/// What W3C's `outbound-rtp` says that the RTP layer knows.
public struct OutboundRTPStatistics: Hashable, Sendable {
  public var packetsSent: Int64 = 0
  public var bytesSent: Int64 = 0
  public var headerBytesSent: Int64 = 0
  public var retransmittedPacketsSent: Int64 = 0
  public var retransmittedBytesSent: Int64 = 0
  public var nackCount: Int64 = 0

  public init() {}
}

/// W3C's `remote-inbound-rtp`: how the other side receives our stream, by its report blocks.
public struct RemoteInboundRTPStatistics: Hashable, Sendable {
  /// Blocks about the stream that have come.
  public var reportsReceived: Int64 = 0
  public var packetsLost: Int64 = 0
  /// 0 to 1.
  public var fractionLost = 0.0
  public var jitter = 0.0
  /// The last round trip measured, or nil before one.
  public var roundTripTime: Interval?
  public var totalRoundTripTime = Interval.zero
  public var roundTripTimeMeasurements: Int64 = 0

  public init() {}
}

/// W3C's `remote-outbound-rtp`: what the other side says it sent, by its sender reports.
public struct RemoteOutboundRTPStatistics: Hashable, Sendable {
  public var packetsSent: UInt32 = 0
  public var bytesSent: UInt32 = 0
  public var remoteTimestamp: NTPTime?
  public var reportsSent: Int64 = 0

  public init() {}
}
