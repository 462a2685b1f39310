public import CallCore
public import SimNet
import Vocabulary

/// The networks, links and servers of a cell with everything explicit: named networks are expanded, the default
/// internet, signalling and STUN hosts are added, and every profile is merged in.
public struct Topology: Sendable, Equatable {
  public var networks: [Network] = []
  public var links: [Link] = []
  public var servers: [Server] = []

  public init() {}

  public func network(_ name: String) -> Network? { networks.first { $0.name == name } }
  public func link(_ name: String) -> Link? { links.first { $0.name == name } }
  public func server(_ name: String) -> Server? { servers.first { $0.name == name } }

  /// The servers of a product.
  package func servers(of profile: String) -> [Server] { servers.filter { $0.profile?.value == profile } }

  /// The servers of the product that a peer runs.
  package func servers(of peer: Scenario.Peer) -> [Server] { peer.profile.map { servers(of: $0.value) } ?? [] }

  /// The TURN servers that a peer asks.
  package func relays(of peer: Scenario.Peer) -> [Server] {
    servers.filter { $0.kind == .turn && peer.ice.asks($0.name) }
  }

  /// The networks whose routers a packet passes on its way out of a network, that one first. A root has none.
  package func routers(from network: Network) -> [Network] {
    var passed: [Network] = []
    var next: Network? = network
    while let current = next, current.uplink != nil, !passed.contains(where: { $0.name == current.name }) {
      passed.append(current)
      next = current.uplink.flatMap { self.network($0.value) }
    }
    return passed
  }

  public struct Network: Sendable, Equatable {
    public var name = ""
    /// The W3C `networkType` of its interfaces: wifi, cellular, ethernet, unknown.
    public var type = NetworkType.ethernet
    /// One prefix, or one of each family.
    public var prefixes: [Located<IPPrefix>] = []
    /// The network this one's router leads to; nil for a root.
    public var uplink: Located<String>?
    /// The translation the router does; nil for a plain router or a root.
    public var nat: NAT?
    public var firewall: Firewall?
    /// Whether its hosts reach each other only by way of outside.
    public var isIsolated = false
    /// IP packet size in bytes that every host's interface on this network takes.
    public var mtu: Int?
    public var why: String?
    @NotCompared public var span = SourceSpan.builtIn
    public init() {}
  }

  public enum NetworkType: String, Sendable, CaseIterable { case wifi, cellular, ethernet, unknown }

  /// A NAT by the terms of RFC 4787. Nothing here is optional once a cell is decoded, except what may be unlimited.
  public struct NAT: Sendable, Equatable {
    public var map = MappingBehavior.endpointIndependent
    public var filter = FilteringBehavior.addressAndPort
    /// How long an idle mapping lives, by what it has seen (RFC 4787 REQ-5, RFC 5382 REQ-5, RFC 7857 section 2.2).
    public var timers = SessionTimers()
    /// Which packets restart the idle timer of UDP (RFC 4787 REQ-6).
    public var refresh = Refresh.outbound
    public var ports = PortAllocation.preserve
    /// The port a mapping gets whose own is taken.
    public var portsIfTaken = PortChoice.random
    /// Whether an outside port has the parity of the inside one (RFC 4787 REQ-4).
    public var keepsParity = false
    public var portRange: ClosedRange<UInt16> = 1...65_535
    /// Whether a port serves several mappings to different destinations, against RFC 4787 REQ-3a.
    public var overloadsPorts = false
    /// How long a freed port is left alone (RFC 6888 REQ-8).
    public var portReuseDelay = Interval.zero
    public var hairpin = Hairpin.none
    /// Most mappings one inside host may hold; nil is unlimited.
    public var quota: Int?
    /// Most mappings of all inside hosts together; nil is unlimited.
    public var totalQuota: Int?
    /// Ports in runs, each of one inside host; nil when every port is anybody's.
    public var blocks: PortBlocks?
    /// How many outside addresses it has.
    public var addresses = 1
    public var pooling = Pooling.paired
    /// Whether a TCP segment that begins nothing opens a mapping.
    public var adoptsTCP = true
    public init() {}
  }

  public struct PortBlocks: Sendable, Equatable {
    public var size: Int
    /// The most blocks of one inside host.
    public var most: Int
    public init(size: Int = 0, most: Int = 1) {
      self.size = size
      self.most = most
    }
  }

  public enum MappingBehavior: String, Sendable, CaseIterable {
    case endpointIndependent = "endpoint-independent"
    case address
    case addressAndPort = "address-and-port"
  }
  public enum FilteringBehavior: String, Sendable, CaseIterable {
    case endpointIndependent = "endpoint-independent"
    case address
    case addressAndPort = "address-and-port"
  }
  public enum PortAllocation: String, Sendable, CaseIterable { case preserve, random, sequential }
  public enum PortChoice: String, Sendable, CaseIterable { case random, sequential }
  public enum Refresh: String, Sendable, CaseIterable { case outbound, both }
  public enum Pooling: String, Sendable, CaseIterable { case paired, arbitrary }
  /// Whether inside hosts reach each other by their outside endpoints, and as whom they are seen (RFC 4787 REQ-9).
  public enum Hairpin: String, Sendable, CaseIterable { case none, external, `internal` }

  /// What a network's router lets out.
  public struct Firewall: Sendable, Equatable {
    public enum Inbound: String, Sendable, CaseIterable { case answers, everything }

    public var inbound = Inbound.answers
    public var blockUDP = false
    public var blockTCP = false
    /// When not empty, only these destination ports pass.
    public var allowPorts: [Int] = []
    public var blockPorts: [Int] = []
    /// Ports of inside hosts that anybody outside may reach.
    public var openPorts: [ClosedRange<UInt16>] = []
    public init() {}
  }

  /// A duplex line from a peer (or a network's router) to a network.
  public struct Link: Sendable, Equatable {
    public var name = ""
    /// A peer, a server or a network.
    public var from = Located("")
    /// A network.
    public var to = Located("")
    public var startsUp = true
    /// From `from` towards `to`.
    public var transmit = Impairments()
    /// From `to` towards `from`.
    public var receive = Impairments()
    public var mtu: Int?
    public var why: String?
    @NotCompared public var span = SourceSpan.builtIn
    public init() {}
  }

  /// What one direction of a link does to packets. Nil is "not said": ideal on a link, unchanged in `link.set`.
  public struct Impairments: Sendable, Equatable {
    public var delay: Interval?
    public var jitter: Jitter?
    public var loss: Loss?
    public var rate: DataRate?
    public var queue: Queue?
    /// Fraction of packets that overtake the delay line.
    public var reorder: Double?
    public var duplicate: Double?
    public var corrupt: Double?
    public init() {}

    /// These values where they are said, `other`'s where they are not.
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

  public struct Jitter: Sendable, Equatable {
    public enum Distribution: String, Sendable, CaseIterable { case uniform, normal, exponential }
    public enum Order: String, Sendable, CaseIterable { case keep, allow }
    public var distribution = Distribution.normal
    /// Half width for `uniform`, standard deviation for `normal`, mean for `exponential`.
    public var amount = Interval.zero
    public var order = Order.keep
    public init() {}
  }

  /// Loss by channel state in virtual time. Rates are fractions.
  public enum Loss: Sendable, Equatable {
    case none
    case random(rate: Double)
    /// The packets with these numbers, from 1 on since it took effect; after `period` packets the count begins anew.
    case packets([ClosedRange<Int>], period: Int?)
    /// What enters in these spans of time since it took effect; after `period` they begin anew.
    case times([Range<Interval>], period: Interval?)
    /// Continuous-time Gilbert: overall loss rate and mean length of a bad period. Loss is `bad` while bad, `good`
    /// otherwise; `rate` is the long-run mean.
    case gilbert(rate: Double, meanBurst: Interval, bad: Double, good: Double)
  }

  public struct Queue: Sendable, Equatable {
    public enum Discipline: String, Sendable, CaseIterable { case dropTail = "drop-tail" }
    public var discipline = Discipline.dropTail
    /// At most one of the three bounds is set; a queue without one is unbounded.
    public var packets: Int?
    public var bytes: Int?
    public var time: Interval?
    public init() {}
  }

  public struct Server: Sendable, Equatable {
    public enum Kind: Hashable, Sendable {
      case stun, turn
      /// A server of a product, by the name that the product's vocabulary declares: `signalling`.
      case declared(String)

      init(_ word: String) {
        self =
          switch word {
          case "stun": .stun
          case "turn": .turn
          default: .declared(word)
          }
      }

      /// As scenarios write it.
      public var word: String {
        switch self {
        case .stun: "stun"
        case .turn: "turn"
        case .declared(let name): name
        }
      }

      /// Whether it is one of a product.
      public var isDeclared: Bool { self != .stun && self != .turn }
    }
    public enum Transport: String, Sendable, CaseIterable { case udp, tcp, tls }
    public enum Credentials: String, Sendable, CaseIterable { case static_ = "static", rest }
    /// What a server shows over TLS, and what a client finds wrong with it.
    public enum Certificate: String, Sendable, CaseIterable {
      case valid, expired
      case notYetValid = "not-yet-valid"
      case wrongName = "wrong-name"
      case unknownIssuer = "unknown-issuer"
    }

    /// How a TURN server serves TLS.
    public struct TLS: Sendable, Equatable {
      public enum Version: String, Sendable, CaseIterable {
        case tls12 = "1.2"
        case tls13 = "1.3"
      }

      public var port = 5_349
      public var certificate = Certificate.valid
      /// The only version it speaks; nil is both.
      public var version: Version?
      public init() {}
    }

    /// A port for one transport, or for all that there are.
    public struct Port: Sendable, Equatable {
      public var number: UInt16
      public var transport: Transport?
    }

    public var name = ""
    public var kind = Kind.stun
    /// The profile whose server it is; nil for STUN and TURN.
    public var profile: Located<String>?
    /// The peers to which it may have peer connections.
    public var connectionNames: [String] = []
    /// The network the host stands on.
    public var network = Located("")
    public var transports: [Transport] = [.udp]
    /// Where it listens for UDP and TCP; empty is 3478, and 443 for a server of a product.
    public var ports: [Port] = []
    public var tls = TLS()
    /// One-way processing delay before every answer or forwarded message.
    public var delay = Interval.zero
    /// TURN: how allocations, nonces, permissions and channels live, and what is refused (RFC 8656).
    public var lifetime = Interval.seconds(600)
    public var nonceLifetime = Interval.seconds(3_600)
    public var permissionLifetime = Interval.seconds(300)
    public var channelLifetime = Interval.seconds(600)
    public var credentials = Credentials.static_
    /// Lifetime of REST credentials.
    public var credentialLifetime = Interval.seconds(86_400)
    public var allocationsPerUser: Int?
    public var totalAllocations: Int?
    public var why: String?
    @NotCompared public var span = SourceSpan.builtIn
    public init() {}

    /// The trace subjects of its peer connections.
    package var connectionSubjects: [String] { connectionNames.map { ConnectionSubject.name(of: $0, at: name) } }
  }
}
