public import VirtualPeer

/// The catalogue of faults: what can go wrong in a world, by the names scenarios use.
public enum FaultKind: String, Sendable, CaseIterable {
  case linkDown = "link.down"
  case linkUp = "link.up"
  case linkSet = "link.set"
  case linkFlap = "link.flap"
  case linkBlackhole = "link.blackhole"
  case linkOneWay = "link.one-way"
  case linkMove = "link.move"
  case natReboot = "nat.reboot"
  case natExpire = "nat.expire"
  case natRemap = "nat.remap"
  case natSet = "nat.set"
  case firewallBlock = "firewall.block"
  case firewallAllow = "firewall.allow"
  case turnRestart = "turn.restart"
  case turnDeny = "turn.deny"
  case turnStaleNonce = "turn.stale-nonce"
  case turnReject = "turn.reject"
  case turnExpirePermissions = "turn.expire-permissions"
  case turnExpireChannels = "turn.expire-channels"
  case turnDisconnect = "turn.disconnect"
  case turnCertificate = "turn.certificate"
  case stunSilent = "stun.silent"
  case signalDrop = "signal.drop"
  case signalDelay = "signal.delay"
  case signalDuplicate = "signal.duplicate"
  case signalReorder = "signal.reorder"
  case signalCorrupt = "signal.corrupt"
  case signalDisconnect = "signal.disconnect"
  case signalBlackhole = "signal.blackhole"
  case dtlsDrop = "dtls.drop"
  case packetDrop = "packet.drop"
  case clockJump = "clock.jump"
  case deviceAudioLate = "device.audio-late"
}

/// One parameter of a fault. Names of links, networks and servers are checked against the cell's topology.
public struct FaultParameter: Sendable {
  public enum Kind: Sendable, Hashable {
    case value(ValueType)
    case list(ValueType)
    case link, network, server
    /// A signalling message type that some peer's vocabulary declares.
    case message
  }

  public let name: String
  public let kind: Kind
  public let isRequired: Bool
  public let summary: String

  init(_ name: String, _ kind: Kind, required: Bool = false, _ summary: String) {
    self.name = name
    self.kind = kind
    isRequired = required
    self.summary = summary
  }

  /// The words it may be; none where anything goes.
  var choices: [String] {
    switch kind {
    case .value(let type), .list(let type): type.choices
    case .link, .network, .server, .message: []
    }
  }
}

public struct FaultDeclaration: Sendable {
  /// What a fault takes besides its parameters.
  public enum Extras: Sendable { case none, impairments, nat }

  public let kind: FaultKind
  public let parameters: [FaultParameter]
  public let extras: Extras
  /// Whether it lasts and so can be cleared, or bounded with `for:`; an instantaneous fault is over when it has happened.
  public let lasts: Bool
  public let summary: String
}

extension FaultKind {
  public var declaration: FaultDeclaration {
    switch self {
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay, .linkMove: linkDeclaration
    case .natReboot, .natExpire, .natRemap, .natSet, .firewallBlock, .firewallAllow: routerDeclaration
    case .turnRestart, .turnDeny, .turnStaleNonce, .turnReject, .turnExpirePermissions, .turnExpireChannels,
      .turnDisconnect, .turnCertificate, .stunSilent:
      serverDeclaration
    case .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole:
      signalDeclaration
    case .dtlsDrop, .packetDrop, .clockJump, .deviceAudioLate: otherDeclaration
    }
  }

  private func declare(
    _ parameters: [FaultParameter], extras: FaultDeclaration.Extras = .none, lasts: Bool = true, _ summary: String
  ) -> FaultDeclaration {
    FaultDeclaration(kind: self, parameters: parameters, extras: extras, lasts: lasts, summary: summary)
  }

  private static let direction = FaultParameter(
    "direction", .value(.choice(Fault.Direction.allCases.map(\.rawValue))), "only this direction; both without it")

  private var linkDeclaration: FaultDeclaration {
    let link = FaultParameter("link", .link, required: true, "the link")
    switch self {
    case .linkDown: return declare([link], "takes the link down; hosts on it see the interface go")
    case .linkUp: return declare([link], "brings the link up")
    case .linkSet:
      return declare([link, Self.direction], extras: .impairments, "changes what the link does to packets")
    case .linkFlap:
      return declare(
        [
          link, FaultParameter("down", .value(.duration), required: true, "time down in every cycle"),
          FaultParameter("up", .value(.duration), required: true, "time up in every cycle"),
          FaultParameter("cycles", .value(.count), "how many cycles; without it until cleared"),
        ], "takes the link down and up again and again")
    case .linkBlackhole:
      return declare(
        [
          link, Self.direction,
          FaultParameter(
            "larger_than", .value(.byteSize), "swallow only packets larger than this, as a broken path MTU does"),
        ], "swallows packets while the link looks up")
    case .linkMove:
      return declare(
        [link, FaultParameter("network", .network, required: true, "the network it leads to while this lasts")],
        "the host at the link's end joins another network: what the link carries is lost, and its addresses are new")
    default:
      return declare(
        [link, FaultParameter("direction", Self.direction.kind, required: true, "the direction that still delivers")],
        "delivers in one direction only")
    }
  }

  private var routerDeclaration: FaultDeclaration {
    let network = FaultParameter("network", .network, required: true, "the network whose router is meant")
    let transport = FaultParameter("protocol", .value(.choice(["udp", "tcp", "all"])), "which packets; all without it")
    switch self {
    case .natReboot:
      return declare(
        [
          network,
          FaultParameter(
            "address", .value(.text), "its outside address from now on, or new for any other"),
        ], lasts: false, "the NAT forgets every mapping; where it does not preserve ports, the next ones have others")
    case .natExpire: return declare([network], lasts: false, "every mapping of the NAT times out at once")
    case .natRemap: return declare([network], lasts: false, "every mapping moves to a new outside port")
    case .natSet: return declare([network], extras: .nat, "changes how the NAT behaves; mappings stay, timers run anew")
    case .firewallBlock:
      return declare(
        [network, transport, FaultParameter("ports", .list(.count), "destination ports; all without it")],
        "the router drops matching outgoing packets")
    default:
      return declare(
        [
          network, transport,
          FaultParameter("ports", .list(.count), required: true, "the only destination ports let out"),
        ],
        "of the packets of that protocol, or of both, the router lets out only those to these ports")
    }
  }

  private var serverDeclaration: FaultDeclaration {
    let server = FaultParameter("server", .server, required: true, "the server")
    let requests = FaultParameter.Kind.value(.choice(["allocate", "refresh", "create-permission", "channel-bind"]))
    switch self {
    case .turnRestart: return declare([server], lasts: false, "the relay restarts and forgets every allocation")
    case .turnDeny: return declare([server], "the relay refuses new permissions with 403")
    case .turnStaleNonce: return declare([server], lasts: false, "the relay's nonces all become stale (438)")
    case .turnReject:
      return declare(
        [
          server, FaultParameter("code", .value(.count), required: true, "the STUN error code, 300 to 699"),
          FaultParameter("request", requests, "which requests; all without it"),
        ], "the relay answers requests with an error")
    case .turnExpirePermissions: return declare([server], lasts: false, "every permission of the relay expires")
    case .turnExpireChannels: return declare([server], lasts: false, "every channel of the relay expires")
    case .turnDisconnect:
      return declare([server], lasts: false, "the relay resets its clients' connections, TCP or TLS")
    case .turnCertificate:
      let choices = Topology.Server.Certificate.allCases.map(\.rawValue)
      return declare(
        [server, FaultParameter("certificate", .value(.choice(choices)), required: true, "what it shows")],
        "the relay shows clients that come by TLS another certificate; connections that stand go on")
    default: return declare([server], "the server stops answering")
    }
  }

  private var signalDeclaration: FaultDeclaration {
    let match = [
      FaultParameter("message", .message, "only this message type; without it every frame, pings and connects too"),
      FaultParameter("from", .value(.peer), "only what this peer sends"),
      FaultParameter("to", .value(.peer), "only what goes to this peer"),
      FaultParameter("count", .value(.count), "at most so many messages"),
    ]
    switch self {
    case .signalDrop: return declare(match, "loses matching signalling messages")
    case .signalDelay:
      return declare(
        match + [FaultParameter("by", .value(.duration), required: true, "how late they come")],
        "delays matching signalling messages")
    case .signalDuplicate: return declare(match, "delivers matching signalling messages twice")
    case .signalReorder: return declare(match, "holds a matching signalling message back until the next has passed it")
    case .signalCorrupt: return declare(match, "damages the body of matching signalling messages")
    case .signalDisconnect:
      return declare(
        [FaultParameter("peer", .value(.peer), required: true, "the peer")],
        "cuts the peer's signalling connection; while it lasts it cannot reconnect")
    default:
      return declare(
        Array(match.dropLast()), "swallows all signalling, pings, connects and closings too, while connections look up")
    }
  }

  private var otherDeclaration: FaultDeclaration {
    let nth = FaultParameter("nth", .list(.count), "only these, counted from 1 since the fault began")
    let count = FaultParameter("count", .value(.count), "at most so many")
    let from = FaultParameter("from", .value(.peer), "only what this peer sends")
    let to = FaultParameter("to", .value(.peer), "only what is sent to this peer")
    switch self {
    case .dtlsDrop:
      return declare(
        [from, FaultParameter("flight", .value(.count), "only this flight of the handshake, 1 to 6"), nth, count],
        "drops DTLS datagrams")
    case .packetDrop:
      let protocols = ValueType.choice(["stun", "dtls", "rtp", "rtcp", "turn", "tls"])
      return declare(
        [FaultParameter("protocol", .value(protocols), required: true, "what the packets are"), from, to, nth, count],
        "drops packets by what they are; in TLS nothing is told from anything else, and once a record is dropped none of "
          + "that direction of the connection arrives any more")
    case .clockJump:
      return declare(
        [
          FaultParameter("peer", .value(.peer), required: true, "whose clock"),
          FaultParameter("by", .value(.duration), required: true, "forwards, or backwards when negative"),
        ], lasts: false, "a peer's wall clock jumps")
    default:
      return declare(
        [
          FaultParameter("peer", .value(.peer), required: true, "whose device"),
          FaultParameter("by", .value(.duration), required: true, "how late"),
        ], "audio callbacks of a device come late")
    }
  }
}
