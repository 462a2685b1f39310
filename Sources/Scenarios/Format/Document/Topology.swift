public import CallCore
public import SimNet
import Vocabulary

/// The networks, links and servers of a cell with everything explicit: named networks are expanded, the default
/// internet, signalling and STUN hosts are added, and every profile is merged in.
public struct Topology: Sendable, Equatable {
  /// The networks, each with its router.
  public var networks: [Network] = []
  /// The links between hosts and networks.
  public var links: [Link] = []
  /// The STUN, TURN and signalling servers.
  public var servers: [Server] = []

  /// Creates an empty topology.
  public init() {}

  /// Returns the network of this name.
  public func network(_ name: String) -> Network? { networks.first { $0.name == name } }
  /// Returns the link of this name.
  public func link(_ name: String) -> Link? { links.first { $0.name == name } }
  /// Returns the server of this name.
  public func server(_ name: String) -> Server? { servers.first { $0.name == name } }

  /// Returns the servers of a profile.
  package func servers(of profile: String) -> [Server] { servers.filter { $0.profile?.value == profile } }

  /// Returns the servers of the profile that a peer runs.
  package func servers(of peer: Scenario.Peer) -> [Server] { peer.profile.map { servers(of: $0.value) } ?? [] }

  /// Returns the TURN servers that a peer uses.
  package func relays(of peer: Scenario.Peer) -> [Server] {
    servers.filter { $0.kind == .turn && peer.ice.asks($0.name) }
  }

  /// Returns the networks whose routers a packet passes on its way out of `network`, itself first; none for a root.
  package func routers(from network: Network) -> [Network] {
    var passed: [Network] = []
    var next: Network? = network
    while let current = next, current.uplink != nil, !passed.contains(where: { $0.name == current.name }) {
      passed.append(current)
      next = current.uplink.flatMap { self.network($0.value) }
    }
    return passed
  }

  /// A network: its addresses, and the router that connects it to its uplink.
  public struct Network: Sendable, Equatable {
    /// The name in the scenario.
    public var name = ""
    /// The W3C `networkType` of its interfaces: wifi, cellular, ethernet, unknown.
    public var type = NetworkType.ethernet
    /// The prefixes: one, or one of each family.
    public var prefixes: [Located<IPPrefix>] = []
    /// The name of the network to which the router leads; nil for a root.
    public var uplink: Located<String>?
    /// The address translation of the router; nil for a plain router or a root.
    public var nat: NAT?
    /// The firewall of the router; nil when the file has none.
    public var firewall: Firewall?
    /// Whether its hosts reach each other only through outside addresses.
    public var isIsolated = false
    /// The MTU in bytes of every host's interface on this network.
    public var mtu: Int?
    /// The reason that the file gives.
    public var why: String?
    /// The location in the scenario file.
    @NotCompared public var span = SourceSpan.builtIn
    /// Creates a root without addresses.
    public init() {}
  }

  /// The W3C `networkType` of an interface.
  public enum NetworkType: String, Sendable, CaseIterable { case wifi, cellular, ethernet, unknown }

  /// A NAT in the terms of RFC 4787. In a decoded cell only the quotas and the port blocks may be nil.
  public struct NAT: Sendable, Equatable {
    /// The mapping behaviour (RFC 4787 section 4.1).
    public var map = MappingBehavior.endpointIndependent
    /// The filtering behaviour (RFC 4787 section 5).
    public var filter = FilteringBehavior.addressAndPort
    /// The idle timeouts of mappings, by session state (RFC 4787 REQ-5, RFC 5382 REQ-5, RFC 7857 section 2.2).
    public var timers = SessionTimers()
    /// The packets that restart the idle timer of UDP (RFC 4787 REQ-6).
    public var refresh = Refresh.outbound
    /// The choice of an outside port (RFC 4787 section 4.2.1).
    public var ports = PortAllocation.preserve
    /// The choice of an outside port when the preserved one is taken.
    public var portsIfTaken = PortChoice.random
    /// Whether an outside port has the parity of the inside one (RFC 4787 REQ-4).
    public var keepsParity = false
    /// The outside ports that mappings may get.
    public var portRange: ClosedRange<UInt16> = 1...65_535
    /// Whether a port serves several mappings to different destinations, against RFC 4787 REQ-3a.
    public var overloadsPorts = false
    /// The time before a freed port is used again (RFC 6888 REQ-8).
    public var portReuseDelay = Interval.zero
    /// The hairpinning behaviour (RFC 4787 REQ-9).
    public var hairpin = Hairpin.none
    /// The maximum number of mappings of one inside host; nil is unlimited.
    public var quota: Int?
    /// The maximum number of mappings of all inside hosts together; nil is unlimited.
    public var totalQuota: Int?
    /// Port blocks, each assigned to one inside host; nil when hosts share all ports.
    public var blocks: PortBlocks?
    /// The number of outside addresses.
    public var addresses = 1
    /// The address pooling behaviour (RFC 4787 section 4.1).
    public var pooling = Pooling.paired
    /// Whether a TCP segment other than a SYN opens a mapping.
    public var adoptsTCP = true
    /// Creates a port-restricted NAT with the timeouts of the RFCs.
    public init() {}
  }

  /// Blocks of consecutive outside ports, each assigned to one inside host.
  public struct PortBlocks: Sendable, Equatable {
    /// The number of ports in a block.
    public var size: Int
    /// The maximum number of blocks of one inside host.
    public var most: Int
    /// Creates a block allocation.
    public init(size: Int = 0, most: Int = 1) {
      self.size = size
      self.most = most
    }
  }

  /// The reuse of a mapping for other destinations (RFC 4787 section 4.1).
  public enum MappingBehavior: String, Sendable, CaseIterable {
    case endpointIndependent = "endpoint-independent"
    case address
    case addressAndPort = "address-and-port"
  }
  /// The senders whose packets a mapping lets in (RFC 4787 section 5).
  public enum FilteringBehavior: String, Sendable, CaseIterable {
    case endpointIndependent = "endpoint-independent"
    case address
    case addressAndPort = "address-and-port"
  }
  /// The choice of an outside port for a mapping.
  public enum PortAllocation: String, Sendable, CaseIterable { case preserve, random, sequential }
  /// The choice of an outside port when the preserved one is taken.
  public enum PortChoice: String, Sendable, CaseIterable { case random, sequential }
  /// The packets that restart the idle timer of a mapping.
  public enum Refresh: String, Sendable, CaseIterable { case outbound, both }
  /// The assignment of outside addresses to inside hosts (RFC 4787 REQ-2).
  public enum Pooling: String, Sendable, CaseIterable { case paired, arbitrary }
  /// The hairpinning behaviour: none, or the source address that the receiver sees (RFC 4787 REQ-9).
  public enum Hairpin: String, Sendable, CaseIterable { case none, external, `internal` }

  /// The packets that a network's router forwards.
  public struct Firewall: Sendable, Equatable {
    /// The packets that are forwarded inwards.
    public enum Inbound: String, Sendable, CaseIterable { case answers, everything }

    /// The packets that are forwarded inwards.
    public var inbound = Inbound.answers
    /// Whether outgoing UDP is dropped.
    public var blockUDP = false
    /// Whether outgoing TCP is dropped.
    public var blockTCP = false
    /// The only destination ports that are let out, unless empty.
    public var allowPorts: [Int] = []
    /// The destination ports that are not let out.
    public var blockPorts: [Int] = []
    /// The ports of inside hosts that accept packets from any outside address.
    public var openPorts: [ClosedRange<UInt16>] = []
    /// Creates a firewall that lets everything out and only answers in.
    public init() {}
  }

  /// A duplex line from a peer, a server or a network's router to a network.
  public struct Link: Sendable, Equatable {
    /// The name in the scenario.
    public var name = ""
    /// The name of a peer, a server or a network.
    public var from = Located("")
    /// The name of a network.
    public var to = Located("")
    /// Whether the link is up when the run begins.
    public var startsUp = true
    /// The impairments from `from` towards `to`.
    public var transmit = Impairments()
    /// The impairments from `to` towards `from`.
    public var receive = Impairments()
    /// The MTU in bytes; nil is the default of the simulator.
    public var mtu: Int?
    /// The reason that the file gives.
    public var why: String?
    /// The location in the scenario file.
    @NotCompared public var span = SourceSpan.builtIn
    /// Creates an ideal link that is up.
    public init() {}
  }

  /// The impairments of one direction of a link. Nil means ideal on a link, and unchanged in `link.set`.
  public struct Impairments: Sendable, Equatable {
    /// The one-way delay.
    public var delay: Interval?
    /// The variation of the delay.
    public var jitter: Jitter?
    /// The packet loss.
    public var loss: Loss?
    /// The bandwidth.
    public var rate: DataRate?
    /// The queue in front of the line.
    public var queue: Queue?
    /// The fraction of packets that overtake the delay line.
    public var reorder: Double?
    /// The fraction of packets that are delivered twice.
    public var duplicate: Double?
    /// The fraction of packets that are damaged.
    public var corrupt: Double?
    /// Creates impairments without values.
    public init() {}

    /// Returns these values, with the values of `other` in place of nil.
    public func over(_ other: Impairments) -> Impairments {
      var merged = other
      merged.delay = delay ?? other.delay
      merged.jitter = jitter ?? other.jitter
      merged.loss = loss ?? other.loss
      merged.rate = rate ?? other.rate
      merged.queue = queue ?? other.queue
      merged.reorder = reorder ?? other.reorder
      merged.duplicate = duplicate ?? other.duplicate
      merged.corrupt = corrupt ?? other.corrupt
      return merged
    }
  }

  /// The variation of a link's delay.
  public struct Jitter: Sendable, Equatable {
    /// The distribution of the additional delay.
    public enum Distribution: String, Sendable, CaseIterable { case uniform, normal, exponential }
    /// Whether packets keep their order or may overtake each other.
    public enum Order: String, Sendable, CaseIterable { case keep, allow }
    /// The distribution of the additional delay.
    public var distribution = Distribution.normal
    /// The half width for `uniform`, the standard deviation for `normal`, the mean for `exponential`.
    public var amount = Interval.zero
    /// Whether packets keep their order.
    public var order = Order.keep
    /// Creates jitter of amount zero.
    public init() {}
  }

  /// Packet loss. Rates are fractions; channel states change in virtual time.
  public enum Loss: Sendable, Equatable {
    case none
    case random(rate: Double)
    /// The packets with these numbers, from 1 on since the loss took effect; the count restarts after `period` packets.
    case packets([ClosedRange<Int>], period: Int?)
    /// The packets that enter in these spans of time since the loss took effect; the spans repeat after `period`.
    case times([Range<Interval>], period: Interval?)
    /// A continuous-time Gilbert-Elliott channel: `rate` is the long-run mean loss, `meanBurst` the mean time in the
    /// bad state, `bad` and `good` are the loss rates in the two states.
    case gilbert(rate: Double, meanBurst: Interval, bad: Double, good: Double)
  }

  /// The queue in front of a link.
  public struct Queue: Sendable, Equatable {
    /// The rule for dropping packets.
    public enum Discipline: String, Sendable, CaseIterable { case dropTail = "drop-tail" }
    /// The rule for dropping packets.
    public var discipline = Discipline.dropTail
    /// The limit in packets. At most one of the three limits is set; a queue without a limit is unbounded.
    public var packets: Int?
    /// The limit in bytes.
    public var bytes: Int?
    /// The limit of the time that a packet spends in the queue.
    public var time: Interval?
    /// Creates an unbounded queue.
    public init() {}
  }

  /// A STUN, TURN or signalling server.
  public struct Server: Sendable, Equatable {
    /// The kind of a server.
    public enum Kind: Hashable, Sendable {
      case stun, turn
      /// A server of a profile, by the name that the profile's vocabulary declares: `signalling`.
      case declared(String)

      init(_ word: String) {
        self =
          switch word {
          case "stun": .stun
          case "turn": .turn
          default: .declared(word)
          }
      }

      /// The text of the kind in scenarios.
      public var word: String {
        switch self {
        case .stun: "stun"
        case .turn: "turn"
        case .declared(let name): name
        }
      }

      /// Whether a profile declares the server.
      public var isDeclared: Bool { self != .stun && self != .turn }
    }
    /// A transport that a server offers.
    public enum Transport: String, Sendable, CaseIterable { case udp, tcp, tls }
    /// The kind of TURN credentials: long-term ones, or time-limited ones of the TURN REST API.
    public enum Credentials: String, Sendable, CaseIterable { case static_ = "static", rest }
    /// The certificate that a server presents over TLS: a valid one, or one with a defect that clients reject.
    public enum Certificate: String, Sendable, CaseIterable {
      case valid, expired
      case notYetValid = "not-yet-valid"
      case wrongName = "wrong-name"
      case unknownIssuer = "unknown-issuer"
    }

    /// The TLS settings of a TURN server, or of a server of a profile.
    public struct TLS: Sendable, Equatable {
      /// A version of TLS.
      public enum Version: String, Sendable, CaseIterable {
        case tls12 = "1.2"
        case tls13 = "1.3"
      }

      /// The port for TLS.
      public var port = 5_349
      /// The certificate that the server presents.
      public var certificate = Certificate.valid
      /// The only version that is offered; nil is both.
      public var version: Version?
      /// Creates the default settings: port 5349, a valid certificate, both versions.
      public init() {}
    }

    /// A port for one transport or for all transports.
    public struct Port: Sendable, Equatable {
      /// The port number.
      public var number: UInt16
      /// The transport; nil is all transports of the server.
      public var transport: Transport?
    }

    /// The name in the scenario.
    public var name = ""
    /// The kind of the server.
    public var kind = Kind.stun
    /// The profile to which the server belongs; nil for STUN and TURN.
    public var profile: Located<String>?
    /// The peers to which the server may have peer connections.
    public var connectionNames: [String] = []
    /// The name of the host's network.
    public var network = Located("")
    /// The transports that the server offers.
    public var transports: [Transport] = [.udp]
    /// The ports for UDP and TCP; empty means 3478, or 443 for a server of a profile.
    public var ports: [Port] = []
    /// The TLS settings.
    public var tls = TLS()
    /// The processing delay before every answer or forwarded message.
    public var delay = Interval.zero
    /// The lifetime of a TURN allocation (RFC 8656).
    public var lifetime = Interval.seconds(600)
    /// The lifetime of a TURN nonce.
    public var nonceLifetime = Interval.seconds(3_600)
    /// The lifetime of a TURN permission.
    public var permissionLifetime = Interval.seconds(300)
    /// The lifetime of a TURN channel binding.
    public var channelLifetime = Interval.seconds(600)
    /// The kind of TURN credentials.
    public var credentials = Credentials.static_
    /// The lifetime of REST credentials.
    public var credentialLifetime = Interval.seconds(86_400)
    /// The maximum number of TURN allocations of one user; nil is unlimited.
    public var allocationsPerUser: Int?
    /// The maximum number of TURN allocations; nil is unlimited.
    public var totalAllocations: Int?
    /// The reason that the file gives.
    public var why: String?
    /// The location in the scenario file.
    @NotCompared public var span = SourceSpan.builtIn
    /// Creates a STUN server on UDP.
    public init() {}

    /// The trace subjects of the server's peer connections.
    package var connectionSubjects: [String] { connectionNames.map { ConnectionSubject.name(of: $0, at: name) } }
  }
}
