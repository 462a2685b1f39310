internal import CallCore
internal import DTLS
internal import SCTP
internal import SDP

/// The SCTP transport of a session (W3C `RTCSctpTransport`); made with the first channel, or by negotiation.
final class DataTransport {
  var sctp: SCTPTransport

  /// The maximum size of a received message in bytes, as libwebrtc announces it.
  static let maximumMessageSize: UInt64 = 262_144

  /// The end of the association that descriptions show.
  static let description = SCTPDescription(
    port: SCTPSettings().localPort, maximumMessageSize: DataTransport.maximumMessageSize)

  init(random: consuming RandomStream, firstID: Int) { sctp = SCTPTransport(random: random, firstID: firstID) }

  /// Whether the association was begun.
  var isStarted: Bool { sctp.role != nil }

  /// Begins the association. The role in DTLS decides the streams of channels (RFC 8832 section 6).
  func start(as role: DTLSRole, _ negotiated: NegotiatedData, at now: Instant) {
    sctp.start(as: role == .client ? .client : .server, remotePort: negotiated.remote.port, at: now)
  }

  func setRemoteMaximumMessageSize(_ size: UInt64?) {
    sctp.setRemoteMaximumMessageSize(size.map { Int(clamping: $0) })
  }
}

/// The channels of the transports that a session has given up.
struct PastDataTransports {
  var opened = 0
  var closed = 0
  var nextID = 0
  var count = 0

  mutating func add(_ data: DataTransport) {
    let statistics = data.sctp.statistics
    opened += statistics.dataChannelsOpened
    closed += statistics.dataChannelsClosed
    nextID = data.sctp.nextID
    count += 1
  }
}
