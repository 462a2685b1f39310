public import CallCore
internal import Codecs
public import DTLS
package import ICE
package import STUN

/// A STUN or TURN server, its name already resolved.
public struct ICEServer: Hashable, Sendable {
  public enum Kind: String, Sendable {
    /// A STUN server (RFC 8489).
    case stun
    /// A TURN server (RFC 8656).
    case turn
  }

  /// The kind of server.
  public var kind: Kind
  /// The server's address and port.
  public var endpoint: Endpoint
  /// How a TURN server is reached. One reached several ways is listed for each. STUN servers are asked by UDP.
  public var transport: Path.Transport
  /// The host that its URI named, when that was no address. A server's certificate must be for it.
  public var host: String?
  /// TURN long-term credentials; for time-limited ones the username begins with its expiry.
  public var username: String
  /// The TURN password.
  public var credential: String

  /// Makes a server entry.
  public init(
    kind: Kind, endpoint: Endpoint, transport: Path.Transport = .udp, host: String? = nil, username: String = "",
    credential: String = ""
  ) {
    self.kind = kind
    self.endpoint = endpoint
    self.transport = transport
    self.host = host
    self.username = username
    self.credential = credential
  }

  /// The RFC 7064/7065 URI, as candidate statistics show it.
  public var url: String {
    let place = host.map { "\($0):\(endpoint.port)" } ?? "\(endpoint)"
    return switch transport {
    case .udp: "\(kind):\(place)"
    case .tcp: "\(kind):\(place)?transport=tcp"
    case .tls: "\(kind)s:\(place)?transport=tcp"
    }
  }
}

/// How often what a relay remembers for us is renewed. No server says how long it does; RFC 8656 says five minutes for
/// permissions and ten for channels.
package struct RelayRefresh: Hashable, Sendable {
  package var permission = Interval.minutes(4)
  /// Four minutes, as libwebrtc has it: a channel's renewal is one of the permission too.
  package var channel = Interval.minutes(4)
  /// What nothing has been sent to for so long is renewed no more.
  package var unusedPermission = Interval.minutes(5)

  package init() {}
}

/// Which candidates may be used (W3C `RTCIceTransportPolicy`).
public enum ICETransportPolicy: String, Sendable, CaseIterable {
  /// Any candidate.
  case all
  /// Relayed candidates only.
  case relay
}

/// When candidates are gathered (libwebrtc's `continual_gathering_policy`).
public enum ICEGatheringPolicy: String, Sendable, CaseIterable {
  /// Once for each generation of credentials, as browsers do.
  case once
  /// Also when an interface comes up, as apps for phones have it: what is found is trickled at once, and what is lost is
  /// reported. Gathering is never complete.
  case continually
}

/// From which sockets an ICE restart gathers (RFC 8445 section 9 leaves it open).
public enum ICERestartSockets: String, Sendable, CaseIterable {
  /// From new ones, as browsers do: NATs make new mappings, and TURN servers give further allocations, while the old ones
  /// carry media until a new pair works.
  case new
  /// From those there are, with the mappings and allocations that they have.
  case same
}

/// How the media inside RTP packets is made.
public enum MediaFidelity: String, Sendable, CaseIterable {
  /// Real Opus on real samples.
  case real
  /// Modelled: packets of constant size from a statistical source; everything below the encoder is real.
  case synthetic
}

/// Settings of the Opus encoder and of its packets (RFC 7587).
public struct AudioSettings: Hashable, Sendable {
  /// 10, 20, 40, 60, 80, 100 or 120 ms, unless the far side asks for another.
  public var ptime = Interval.milliseconds(20)
  /// 500 bit/s to 512 kbit/s, and no more than the far side takes.
  public var bitrate = DataRate.kilobitsPerSecond(32)
  /// 0...10.
  public var complexity = 9
  /// Whether packets carry a low-bitrate copy of the previous frame (RFC 6716 section 2.1.7).
  public var inBandFEC = true
  /// Whether silence is not sent to a far side that asks for that, and the far side asked for the same.
  public var dtx = false
  /// Whether the encoder keeps to one bitrate.
  public var constantBitrate = false
  /// The loss the encoder is told to expect, 0...100, or nil to follow receiver reports.
  public var expectedLossPercent: Int?
  /// Whether lost packets are asked for again (RFC 4585), when the peer agrees.
  public var nack = false
  /// Whether packets are numbered across the transport, and their arrival is fed back to their sender (transport-cc), when
  /// the peer agrees.
  public var transportFeedback = false
  /// Whether lost packets come again on a stream of their own (RFC 4588), when the peer agrees. No browser does that for audio.
  package var retransmitsOnItsOwnStream = false
  /// A fixed first sequence number, for provoking wrap-around; nil draws one.
  package var initialSequenceNumber: UInt16?

  /// Makes the default settings.
  public init() {}

  /// What is wrong with them, for people; nil when nothing is.
  var problem: String? {
    if PacketDuration(ptime).map({ $0 < .ms10 }) ?? true {
      return "ptime is \(ptime), and a packet holds 10, 20, 40, 60, 80, 100 or 120 ms"
    }
    if !(500...512_000).contains(bitrate.bitsPerSecond) { return "bitrate is \(bitrate), not 500bps to 512kbps" }
    if !(0...10).contains(complexity) { return "complexity is \(complexity), not 0 to 10" }
    guard let expectedLossPercent, !(0...100).contains(expectedLossPercent) else { return nil }
    return "expectedLossPercent is \(expectedLossPercent), not 0 to 100"
  }
}

/// Which protection media packets get.
package enum MediaProtection: String, Sendable, CaseIterable {
  /// DTLS 1.2 and SRTP, as on the wire.
  case dtlsSRTP
  /// No crypto at all, to measure everything else. Never negotiated with a peer.
  case none
}

/// A local network interface a session may gather candidates on.
package struct LocalInterface: Hashable, Sendable {
  /// The bound UDP socket's address: host candidates carry it.
  package var socket: Endpoint
  package var name: String
  /// W3C `RTCNetworkType`-like label: `wifi`, `cellular`, `ethernet`, …
  package var networkType: String
  /// What is told instead of the address: a name ending in `.local`, which those on the same link can resolve
  /// (RFC 8828 mode 3 and 4, draft-ietf-mmusic-mdns-ice-candidates). The driver announces it.
  package var concealment: String?

  package init(socket: Endpoint, name: String, networkType: String, concealment: String? = nil) {
    self.socket = socket
    self.name = name
    self.networkType = networkType
    self.concealment = concealment
  }
}

/// Everything a session is told once.
public struct SessionConfiguration: Sendable {
  /// The STUN and TURN servers.
  public var iceServers: [ICEServer] = []
  /// The candidates that may be used.
  public var iceTransportPolicy = ICETransportPolicy.all
  /// The policy for gathering candidates.
  public var gathering = ICEGatheringPolicy.once
  /// The sockets that an ICE restart gathers from.
  public var restartSockets = ICERestartSockets.new
  package var relayRefresh = RelayRefresh()
  /// When requests to STUN and TURN servers are sent again.
  package var stunRetransmission = STUNTransactionTimer.Policy.libwebrtc
  package var ice = ICESettings()
  package var dtls = DTLSTransport.Configuration()
  /// How drivers make connections to TURN servers over TLS.
  package var tls = TLSClientConfiguration()
  /// Answers `a=setup:actpass` with `passive`, leaving the ClientHello to the offerer (RFC 8842 section 5.3).
  package var answersPassively = false
  /// The settings of the Opus encoder.
  public var audio = AudioSettings()
  /// The way in which media is made.
  public var media = MediaFidelity.real
  package var protection = MediaProtection.dtlsSRTP
  /// The DTLS identity; shared by every session of a peer.
  public var certificate: Certificate
  /// The date that this side believes in.
  public var wallClock = WallClock()
  /// The RTCP canonical name (RFC 7022: meaningless to others, the same for all of a peer's streams).
  public var cname: String
  /// How often a STUN server is asked again, so that a NAT's mapping lives.
  public var stunKeepalive = Interval.seconds(10)

  /// Makes a configuration with defaults for everything else.
  ///
  /// - Parameters:
  ///   - certificate: the DTLS identity.
  ///   - cname: the RTCP canonical name.
  public init(certificate: Certificate, cname: String) {
    self.certificate = certificate
    self.cname = cname
  }
}
