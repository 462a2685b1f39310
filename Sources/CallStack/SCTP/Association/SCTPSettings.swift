package import CallCore

/// The settings of an association. The defaults are those of libwebrtc's data channels.
package struct SCTPSettings: Hashable, Sendable {
  /// The port of this side (`a=sctp-port`).
  package var localPort: UInt16 = 5_000
  /// The port of the peer.
  package var remotePort: UInt16 = 5_000
  /// The maximum size of a packet in bytes: IPv6's 1280 less IPv6, UDP, TURN's ChannelData, DTLS and its AES-GCM.
  package var mtu = Defect.dataOverheadForgotten.isPlanted ? 1_280 - 40 - 8 : 1_191
  /// The number of streams that are accepted from the peer.
  package var inboundStreams: UInt16 = .max
  /// The number of streams that are used, if the peer accepts as many.
  package var outboundStreams: UInt16 = 1_024

  /// The memory for fragments that wait for others. Nine tenths are advertised as the window.
  package var receiveBuffer = 5 * 1_024 * 1_024
  /// The maximum size of all messages that are not sent.
  package var sendBuffer = 64 * 1_024 * 1_024

  /// The limits of the retransmission timeout.
  package var timeout = RetransmissionTimeout.Limits()
  /// The first timeout of an INIT.
  package var initTimeout = Interval.seconds(1)
  /// The first timeout of a COOKIE ECHO.
  package var cookieTimeout = Interval.seconds(1)
  /// The first timeout of a SHUTDOWN or SHUTDOWN ACK.
  package var shutdownTimeout = Interval.seconds(1)
  /// The largest interval that the backoff of a timer reaches, or nil for no limit.
  package var maximumBackoff: Interval? = .seconds(3)
  /// The time without acknowledgments after which a HEARTBEAT is sent; zero for none.
  package var heartbeatInterval = Interval.seconds(30)
  /// The longest delay of a SACK.
  package var acknowledgmentDelay = Interval.milliseconds(200)
  /// The time in which a cookie must be echoed.
  package var cookieLifetime = Interval.seconds(60)

  /// The number of consecutive timeouts after which the association is aborted, or nil for no limit.
  package var maximumRetransmissions: Int?
  /// The number of retransmissions of an INIT or COOKIE ECHO, or nil for no limit.
  package var maximumInitRetransmissions: Int?

  /// The initial congestion window in packets.
  package var initialWindowPackets = 10
  /// The least congestion window after a loss in packets.
  package var minimumWindowPackets = 4
  /// The congestion window in packets from which on it is not filled with small fragments.
  package var avoidFragmentationPackets = 6
  /// The congestion window in packets below which SACKs are wanted without delay.
  package var immediateAcknowledgmentPackets = 10
  /// The number of packets with DATA that leave at once.
  package var maximumBurst = 4

  /// Whether FORWARD TSN is offered (RFC 3758).
  package var offersPartialReliability = true
  /// Whether the reset of streams is offered (RFC 6525).
  package var offersReconfiguration = true
  /// Whether packets without checksum are offered (RFC 9653): DTLS protects them.
  package var offersZeroChecksum = false

  package init() {}
}
