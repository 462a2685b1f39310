public import CallCore
internal import Codecs
public import DTLS
package import ICE
package import STUN

/// A STUN or TURN server, its name already resolved.
public struct ICEServer: Hashable, Sendable {
  /// The kind of an ICE server.
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
  /// The transport to a TURN server; a server with several transports is listed once for each. STUN servers use UDP.
  public var transport: Path.Transport
  /// The host name in the server's URI, if it was not an address. A server's certificate must be valid for it.
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

  /// The RFC 7064/7065 URI, as in candidate statistics.
  public var url: String {
    let place = host.map { "\($0):\(endpoint.port)" } ?? "\(endpoint)"
    return switch transport {
    case .udp: "\(kind):\(place)"
    case .tcp: "\(kind):\(place)?transport=tcp"
    case .tls: "\(kind)s:\(place)?transport=tcp"
    }
  }
}

/// The refresh intervals of a relay's permissions and channels. Servers do not announce lifetimes; RFC 8656 specifies
/// five minutes for permissions and ten for channels.
package struct RelayRefresh: Hashable, Sendable {
  package var permission = Interval.minutes(4)
  /// Four minutes as in libwebrtc, because refreshing a channel also refreshes its permission.
  package var channel = Interval.minutes(4)
  /// The time without sending after which a permission is no longer refreshed.
  package var unusedPermission = Interval.minutes(5)

  package init() {}
}

/// The candidates that may be used (W3C `RTCIceTransportPolicy`).
public enum ICETransportPolicy: String, Sendable, CaseIterable {
  /// Any candidate.
  case all
  /// Relayed candidates only.
  case relay
}

/// The time at which candidates are gathered (libwebrtc's `continual_gathering_policy`).
public enum ICEGatheringPolicy: String, Sendable, CaseIterable {
  /// Once for each generation of credentials, as browsers do.
  case once
  /// Also when an interface comes up, as mobile apps do: new candidates are trickled at once, and lost ones are
  /// reported. Gathering never completes.
  case continually
}

/// The sockets that an ICE restart gathers from (RFC 8445 section 9 leaves this open).
public enum ICERestartSockets: String, Sendable, CaseIterable {
  /// New sockets, as in browsers: NATs make new mappings and TURN servers new allocations, while the old ones carry
  /// media until a new pair works.
  case new
  /// The existing sockets, with their mappings and allocations.
  case same
}

/// The way in which the media inside RTP packets is made.
public enum MediaFidelity: String, Sendable, CaseIterable {
  /// Real Opus on real samples.
  case real
  /// Modelled media: audio packets of constant size and video frames of modelled sizes, from statistical sources; everything below the encoder is real.
  case synthetic
}

/// Settings of the audio encoder and of its packets; most of them are those of Opus (RFC 7587).
public struct AudioSettings: Hashable, Sendable {
  /// The formats to offer and to accept, the preferred one first.
  public var codecs: [AudioCodec] = [.opus]
  /// The number of earlier Opus packets that each packet repeats, 0...9, if ``AudioCodec/redundancy`` is negotiated.
  /// Chromium repeats one if redundancy is preferred to Opus, and none otherwise.
  public var redundantPackets = 0
  /// Whether the microphone gives interleaved pairs of samples. They are sent in stereo if the remote side asks for it
  /// (RFC 7587 section 6.1), else mixed; it is asked for stereo, and heard in mono. With real media only.
  public var stereo = false
  /// The packet duration: 10, 20, 30, 40, 60, 80, 100 or 120 ms, unless the remote side asks for another. 30 ms are of iLBC
  /// and iSAC; other codecs take the next longer one.
  public var ptime = Interval.milliseconds(20)
  /// The bitrate, 500 bit/s to 512 kbit/s, limited by the remote description. Of iSAC it is the maximum, within 10 to 32
  /// kbit/s.
  public var bitrate = DataRate.kilobitsPerSecond(32)
  /// The encoder's complexity, 0...10.
  public var complexity = 9
  /// Whether packets carry a low-bitrate copy of the previous frame (RFC 6716 section 2.1.7).
  public var inBandFEC = true
  /// Whether silence is not sent (DTX). We request it of the remote side, and use it if the remote side requests it.
  /// With G.711 and G.722, comfort noise replaces silence if ``AudioCodec/comfortNoise`` is negotiated.
  public var dtx = false
  /// Whether the encoder uses a constant bitrate.
  public var constantBitrate = false
  /// The packet loss that the encoder expects in percent, 0...100, or nil to follow receiver reports.
  public var expectedLossPercent: Int?
  /// Whether lost packets are requested again (RFC 4585), if the peer agrees.
  public var nack = false
  /// Whether packets get transport-wide numbers and their arrival is reported to the sender (transport-cc), if the peer
  /// agrees.
  public var transportFeedback = false
  /// Whether lost packets are sent again on a separate stream (RFC 4588), if the peer agrees. No browser does that for
  /// audio.
  package var retransmitsOnItsOwnStream = false
  /// Whether Opus packets that another call of this process has made of the same samples are taken as they are: the same
  /// bytes for less work.
  package var reusesEncodedAudio = false
  /// The first sequence number, to provoke wrap-around; nil for a random one.
  package var initialSequenceNumber: UInt16?

  /// Makes the default settings.
  public init() {}

  /// A description of the first invalid setting; nil if all are valid.
  var problem: String? {
    if !codecs.contains(where: \.isMedia) || Set(codecs).count != codecs.count {
      return "codecs is \(codecs.map(\.rawValue)), not different formats with a media codec among them"
    }
    if !(0...9).contains(redundantPackets) { return "redundantPackets is \(redundantPackets), not 0 to 9" }
    let isOfFrames = PacketDuration(ptime).map { $0 != .ms30 || codecs.contains(where: \.isModelled) } ?? false
    if !isOfFrames || ptime < PacketDuration.ms10.interval {
      return "ptime is \(ptime), but a packet holds 10, 20, 40, 60, 80, 100 or 120 ms, and 30 ms of iLBC and iSAC"
    }
    if !(500...512_000).contains(bitrate.bitsPerSecond) { return "bitrate is \(bitrate), not 500bps to 512kbps" }
    if !(0...10).contains(complexity) { return "complexity is \(complexity), not 0 to 10" }
    guard let expectedLossPercent, !(0...100).contains(expectedLossPercent) else { return nil }
    return "expectedLossPercent is \(expectedLossPercent), not 0 to 100"
  }
}

/// The protection of media packets.
package enum MediaProtection: String, Sendable, CaseIterable {
  /// DTLS 1.2 and SRTP, as on the wire.
  case dtlsSRTP
  /// No encryption, to measure the cost of everything else. Never negotiated with a peer.
  case none
}

/// The use of DTLS-SRTP by a session.
public enum DTLSPolicy: Hashable, Sendable {
  /// DTLS is used, and a remote side without it is refused (RFC 8827 section 6.5).
  case required
  /// DTLS is used; a remote side without it is not refused, and neither side sends media.
  case offered
  /// DTLS is not used: with a remote side that does not use it either, RTP goes unprotected. No data channels.
  case off
}

/// A local network interface on which a session may gather candidates.
package struct LocalInterface: Hashable, Sendable {
  /// The address of the bound UDP socket, used in host candidates.
  package var socket: Endpoint
  package var name: String
  /// The kind of network, as in W3C `RTCNetworkType`: `wifi`, `cellular`, `ethernet`, …
  package var networkType: String
  /// The name announced instead of the address. It ends in `.local` and can be resolved on the same link (RFC 8828 mode
  /// 3 and 4, draft-ietf-mmusic-mdns-ice-candidates). The driver answers queries for it.
  package var mdnsName: String?

  package init(socket: Endpoint, name: String, networkType: String, mdnsName: String? = nil) {
    self.socket = socket
    self.name = name
    self.networkType = networkType
    self.mdnsName = mdnsName
  }
}

/// The configuration of a session.
public struct SessionConfiguration: Sendable {
  /// The STUN and TURN servers.
  public var iceServers: [ICEServer] = []
  /// The policy for the candidates that may be used.
  public var iceTransportPolicy = ICETransportPolicy.all
  /// The policy for gathering candidates.
  public var gathering = ICEGatheringPolicy.once
  /// The sockets that an ICE restart gathers from.
  public var restartSockets = ICERestartSockets.new
  package var relayRefresh = RelayRefresh()
  /// The retransmission policy for requests to STUN and TURN servers.
  package var stunRetransmission = STUNTransactionTimer.Policy.libwebrtc
  package var ice = ICESettings()
  package var dtls = DTLSTransport.Configuration()
  /// The TLS configuration of drivers for connections to TURN servers.
  package var tls = TLSClientConfiguration()
  /// Whether `a=setup:actpass` is answered with `passive`, so that the offerer sends the ClientHello (RFC 8842 section
  /// 5.3).
  package var answersPassively = false
  /// The settings of the Opus encoder.
  public var audio = AudioSettings()
  /// The settings of video; nil for a stack without video, which rejects it.
  public var video: VideoSettings?
  /// Whether the stack has data channels; a stack without them rejects them.
  public var dataChannels = true
  /// Whether the connection is one of a server that forwards (RFC 7667 section 3.7): it decodes nothing, and its tracks
  /// are those that other connections receive. It takes one encoding of a track, and no redundancy.
  package var forwards = false
  /// The way in which media is made.
  public var media = MediaFidelity.real
  package var protection = MediaProtection.dtlsSRTP
  /// The use of DTLS.
  public var dtlsPolicy = DTLSPolicy.required
  /// The DTLS identity, shared by all sessions of a peer.
  public var certificate: Certificate
  /// The date of this side.
  public var wallClock = WallClock()
  /// The RTCP canonical name (RFC 7022: meaningless to others, the same for all streams of a peer).
  public var cname: String
  /// The interval of STUN requests that keep a NAT mapping alive.
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
