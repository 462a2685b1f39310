package import CallCore

/// The members of W3C's `RTCDataChannelStats`.
package struct DataChannelStatistics: Hashable, Sendable {
  package var label: String
  package var protocolName: String
  /// The stream, or nil until the DTLS role is known.
  package var dataChannelIdentifier: UInt16?
  package var state: DataChannelState
  package var messagesSent = 0
  package var bytesSent = 0
  package var messagesReceived = 0
  package var bytesReceived = 0
}

/// The members of W3C's `RTCSctpTransportStats`, and further counters.
package struct SCTPTransportStatistics: Hashable, Sendable {
  /// The smoothed round-trip time, or nil before the first measurement.
  package var smoothedRoundTripTime: Interval?
  package var congestionWindow = 0
  /// The peer's last advertised window.
  package var receiverWindow = 0
  package var mtu: Int
  /// The number of DATA chunks in flight.
  package var unackData = 0
  /// The number of packets with DATA chunks that were sent before.
  package var retransmittedPackets = 0
  package var retransmittedBytes = 0
  /// Messages that were given up by their limits.
  package var abandonedMessages = 0
  /// The members `dataChannelsOpened` and `dataChannelsClosed` of `RTCPeerConnectionStats`.
  package var dataChannelsOpened = 0
  package var dataChannelsClosed = 0
  /// Messages that belong to no channel, or are malformed.
  package var refusedMessages = 0
  /// The counters of the association.
  package var association = SCTPCounters()
}
