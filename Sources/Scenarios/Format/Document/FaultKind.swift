public import Vocabulary

/// The catalogue of faults, by the names that scenarios use.
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
  case dtlsFail = "dtls.fail"
  case dataChannelFail = "data-channel.fail"
  case packetDrop = "packet.drop"
  case packetForge = "packet.forge"
  case clockJump = "clock.jump"
  case deviceAudioLate = "device.audio-late"
  case deviceEventsLate = "device.events-late"
  case deviceBackground = "device.background"
  case deviceInactive = "device.inactive"
  case deviceSuspend = "device.suspend"
  case devicePhoneCall = "device.phone-call"
  case deviceAudioInterruption = "device.audio-interruption"
  case deviceKill = "device.kill"
  case deviceMemoryPressure = "device.memory-pressure"
  case deviceRouteChange = "device.route-change"
  case deviceCameraInterruption = "device.camera-interruption"
  case deviceTraffic = "device.traffic"
}

/// One parameter of a fault. Names of links, networks and servers are checked against the cell's topology.
public struct FaultParameter: Sendable {
  /// The type of an argument.
  public enum Kind: Sendable, Hashable {
    case value(ValueType)
    case list(ValueType)
    /// A whole number; ``counts(_:)`` is a list of them.
    case count(ClosedRange<Int>)
    case counts(ClosedRange<Int>)
    case link, network, server
    /// A signalling message type of any peer's vocabulary.
    case message
    /// A message field, by name or role, of any peer's vocabulary.
    case field
  }

  /// The name of the key in scenario files.
  public let name: String
  /// The type of the argument.
  public let kind: Kind
  /// Whether a fault without this argument is an error.
  public let isRequired: Bool
  /// A one-line description for the reference.
  public let summary: String

  init(_ name: String, _ kind: Kind, required: Bool = false, _ summary: String) {
    self.name = name
    self.kind = kind
    isRequired = required
    self.summary = summary
  }

  /// The permitted words; empty when the type is not a choice.
  var choices: [String] {
    switch kind {
    case .value(let type), .list(let type): type.choices
    case .count, .counts, .link, .network, .server, .message, .field: []
    }
  }
}

/// The parameters and the description of a fault.
public struct FaultDeclaration: Sendable {
  /// The settings that a fault takes besides its parameters.
  public enum Extras: Sendable { case none, impairments, nat }

  /// The fault.
  public let kind: FaultKind
  /// The parameters, in the order of the reference.
  public let parameters: [FaultParameter]
  /// The settings besides the parameters.
  public let extras: Extras
  /// A one-line description for the reference.
  public let summary: String

  /// Whether the fault lasts, so that it can be cleared or bounded with `for:`; any other fault is instantaneous.
  public var lasts: Bool { kind.lasts }
}

extension FaultKind {
  /// The declaration of the fault. The switch has no default, so that the compiler requires one for a new fault.
  public var declaration: FaultDeclaration {
    switch self {
    case .linkDown: declare([Self.link], "takes the link down; hosts on it see the interface go")
    case .linkUp: declare([Self.link], "brings the link up")
    case .linkSet:
      declare([Self.link, Self.direction], extras: .impairments, "changes what the link does to packets")
    case .linkFlap:
      declare(
        [
          Self.link, FaultParameter("down", .value(.duration), required: true, "time down in every cycle"),
          FaultParameter("up", .value(.duration), required: true, "time up in every cycle"),
          FaultParameter("cycles", .count(Self.numbers), "how many cycles; without it until cleared"),
        ], "takes the link down and up again and again")
    case .linkBlackhole:
      declare(
        [
          Self.link, Self.direction,
          FaultParameter(
            "larger_than", .value(.byteSize), "swallow only packets larger than this, as a broken path MTU does"),
        ], "swallows packets while the link looks up")
    case .linkOneWay:
      declare(
        [
          Self.link,
          FaultParameter("direction", Self.direction.kind, required: true, "the direction that still delivers"),
        ], "delivers in one direction only")
    case .linkMove:
      declare(
        [Self.link, FaultParameter("network", .network, required: true, "the network it leads to while this lasts")],
        "the host at the link's end joins another network: what the link carries is lost, and its addresses are new")

    case .natReboot:
      declare(
        [
          Self.network,
          FaultParameter("address", .value(.text), "its outside address from now on, or new for any other"),
        ], "the NAT forgets every mapping; where it does not preserve ports, the next ones have others")
    case .natExpire: declare([Self.network], "every mapping of the NAT times out at once")
    case .natRemap: declare([Self.network], "every mapping moves to a new outside port")
    case .natSet:
      declare(
        [Self.network], extras: .nat,
        "changes how the NAT behaves; mappings stay, and new timers count from their last packets")
    case .firewallBlock:
      declare(
        [
          Self.network, Self.transport,
          FaultParameter("ports", .counts(Self.ports), "destination ports; all without it"),
        ],
        "the router drops matching outgoing packets; UDP without ports it drops both ways")
    case .firewallAllow:
      declare(
        [
          Self.network, Self.transport,
          FaultParameter("ports", .counts(Self.ports), required: true, "the only destination ports let out"),
        ], "of the packets of that protocol, or of both, the router lets out only those to these ports")

    case .turnRestart: declare([Self.server], "the relay restarts and forgets every allocation")
    case .turnDeny:
      declare(
        [Self.server],
        "the relay refuses CreatePermission and ChannelBind with 403: new permissions and renewals alike")
    case .turnStaleNonce: declare([Self.server], "the relay's nonces all become stale (438)")
    case .turnReject:
      declare(
        [
          Self.server, FaultParameter("code", .count(300...699), required: true, "the STUN error code, 300 to 699"),
          FaultParameter("request", Self.requests, "which requests; all without it"),
        ], "the relay answers requests with an error")
    case .turnExpirePermissions: declare([Self.server], "every permission of the relay expires")
    case .turnExpireChannels: declare([Self.server], "every channel of the relay expires")
    case .turnDisconnect:
      declare([Self.server], "the relay resets its clients' connections, TCP or TLS")
    case .turnCertificate:
      declare(
        [Self.server, FaultParameter("certificate", Self.certificates, required: true, "what it shows")],
        "the relay shows clients that come by TLS another certificate; connections that stand go on")
    case .stunSilent:
      declare([Self.server], "the server hears and sends nothing: no answers, and of a relay no media either")

    case .signalDrop: declare(Self.messages, "loses matching signalling messages")
    case .signalDelay:
      declare(
        Self.messages + [FaultParameter("by", .value(.duration), required: true, "how late they come")],
        "delays matching signalling messages")
    case .signalDuplicate: declare(Self.messages, "delivers matching signalling messages twice")
    case .signalReorder:
      declare(Self.messages, "holds a matching signalling message back until the next has passed it, or for a second")
    case .signalCorrupt:
      declare(
        Self.messages + [
          FaultParameter("field", .field, "only this field, by its name or its role, such as call-id"),
          FaultParameter("value", .value(.text), "what the field becomes; damaged without it"),
          FaultParameter(
            "mutation", .value(.choice(FrameMutation.allCases.map(\.rawValue) + MessageMutation.words)),
            "how, instead: of the text, of the message, of its description or of its candidate"),
        ], "damages the body of matching signalling messages")
    case .signalDisconnect:
      declare(
        [Self.peer("the peer"), Self.callServer],
        "cuts the peer's signalling connection; while it lasts it cannot reconnect")
    case .signalBlackhole:
      declare(
        Self.messages.filter { $0.name != "count" },
        "swallows all signalling, pings, connects and closings too, while connections look up")

    case .dtlsDrop:
      declare(
        [
          Self.sender, FaultParameter("flight", .count(1...6), "only this flight of the handshake, 1 to 6"), Self.nth,
          Self.atMost,
        ], "drops DTLS datagrams")
    case .dtlsFail:
      declare(
        [Self.peer("whose device")], "DTLS of the peer's connections fails as by an error of its own; ICE goes on")
    case .dataChannelFail:
      declare(
        [Self.peer("whose device")],
        "the data channels that the peer has opened fail as by an error of its SCTP; all else goes on")
    case .packetDrop:
      declare(
        [
          FaultParameter("protocol", Self.protocols, required: true, "what the packets are"), Self.sender,
          Self.receiver, Self.nth, Self.atMost,
        ],
        "drops packets by what they are; in TLS nothing is told from anything else, and once a record is dropped none of "
          + "that direction of the connection arrives any more")
    case .packetForge:
      declare(
        [
          FaultParameter(
            "protocol", .value(.choice(Self.forgedProtocols)), required: true, "what the packets are"), Self.victim,
          Self.nth, Self.atMost,
        ],
        "a stranger on the peer's network sends a packet after each of these: a DTLS alert, or a copy that fails its check"
      )
    case .clockJump:
      declare(
        [
          Self.peer("whose clock"),
          FaultParameter("by", .value(.duration), required: true, "forwards, or backwards when negative"),
        ], "a peer's wall clock jumps")
    case .deviceAudioLate:
      declare(
        [Self.peer("whose device"), FaultParameter("by", .value(.duration), required: true, "how late")],
        "audio callbacks of a device come late")
    case .deviceEventsLate:
      declare(
        [
          Self.peer("whose device"),
          FaultParameter(
            "event", .value(.choice(ConnectionEventName.allCases.map(\.rawValue))), "only this event; all without it"),
          FaultParameter("by", .value(.duration), required: true, "how late"),
        ], "events of the peer connections of a device reach its app late, in another order than others")
    case .deviceBackground:
      declare(
        [Self.peer("whose app")],
        "the user leaves the app: it runs on while it declares background audio and plays or records, and else for 5 s")
    case .deviceInactive: declare([Self.peer("whose app")], "something is shown over the app, such as a banner")
    case .deviceSuspend:
      declare([Self.peer("whose app")], "the system suspends the app: nothing of it runs, and datagrams are lost")
    case .devicePhoneCall:
      declare(
        [
          Self.peer("whose device"),
          FaultParameter("answered", .value(.flag), required: true, "whether the user answers, which suspends the app"),
        ], "a cellular call takes the audio from the app; without CallKit it can also suspend it")
    case .deviceAudioInterruption:
      declare(
        [
          Self.peer("whose device"),
          FaultParameter(
            "ended_event", .value(.flag),
            "whether the app is told when it is over, which iOS does not guarantee; true by default"),
        ], "another app takes the audio")
    case .deviceKill:
      declare(
        [Self.peer("whose app")],
        "the user kills the app, and opens it again at the end; a VoIP push launches it meanwhile")
    case .deviceMemoryPressure:
      declare([Self.peer("whose device")], "the system takes the memory of the app while that is suspended")
    case .deviceRouteChange:
      declare(
        [
          Self.peer("whose device"),
          FaultParameter(
            "accessory", .value(.choice(AudioRoute.Accessory.allCases.map(\.rawValue))), required: true,
            "what is connected"),
        ], "something that plays is connected to the device, and gone at the end")
    case .deviceCameraInterruption:
      declare(
        [
          Self.peer("whose device"),
          FaultParameter(
            "reason", .value(.choice(CameraInterruption.allCases.filter { $0 != .background }.map(\.rawValue))),
            required: true, "why"),
        ], "the system takes the camera from an app in the foreground")
    case .deviceTraffic:
      declare(
        [
          Self.peer("whose device"),
          FaultParameter(
            "direction", Self.direction.kind, required: true, "whether they send, tx, or load, rx"),
          FaultParameter("flows", .count(1...100), "the number of TCP connections at a time; 1"),
          FaultParameter("size", .value(.byteSize), "the bytes of each connection; without end by default"),
          FaultParameter(
            "pause", .value(.duration),
            "the mean of the exponential pauses between a connection with a size and the next; none by default"),
        ], "other apps of the device send to, or load from, a server by TCP, over the same links")
    }
  }

  /// Whether the fault lasts. The switch has no default, as in ``declaration``.
  package var lasts: Bool {
    switch self {
    case .natReboot, .natExpire, .natRemap, .turnRestart, .turnStaleNonce, .turnExpirePermissions, .turnExpireChannels,
      .turnDisconnect, .dtlsFail, .dataChannelFail, .clockJump:
      false
    case .linkDown, .linkUp, .linkSet, .linkMove, .linkFlap, .linkBlackhole, .linkOneWay, .natSet, .firewallBlock,
      .firewallAllow, .turnDeny, .turnReject, .turnCertificate, .stunSilent, .signalDrop, .signalDelay,
      .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect, .signalBlackhole, .dtlsDrop, .packetDrop,
      .packetForge,
      .deviceAudioLate, .deviceEventsLate, .deviceBackground, .deviceInactive, .deviceSuspend, .devicePhoneCall,
      .deviceAudioInterruption, .deviceKill, .deviceMemoryPressure, .deviceRouteChange, .deviceCameraInterruption,
      .deviceTraffic:
      true
    }
  }

  /// Whether the fault affects signalling messages at the server of a profile.
  package var isOfSignalling: Bool {
    switch self {
    case .signalDrop, .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect,
      .signalBlackhole:
      true
    case .linkDown, .linkUp, .linkSet, .linkMove, .linkFlap, .linkBlackhole, .linkOneWay, .natReboot, .natExpire,
      .natRemap, .natSet, .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject,
      .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .dtlsDrop, .dtlsFail,
      .dataChannelFail,
      .packetDrop, .packetForge, .clockJump, .deviceAudioLate, .deviceEventsLate, .deviceBackground, .deviceInactive,
      .deviceSuspend, .devicePhoneCall, .deviceAudioInterruption, .deviceKill, .deviceMemoryPressure,
      .deviceRouteChange, .deviceCameraInterruption, .deviceTraffic:
      false
    }
  }

  /// Whether the fault moves hosts to another network while it lasts.
  package var movesHosts: Bool {
    switch self {
    case .linkMove: true
    case .linkDown, .linkUp, .linkSet, .linkFlap, .linkBlackhole, .linkOneWay, .natReboot, .natExpire, .natRemap,
      .natSet, .firewallBlock, .firewallAllow, .turnRestart, .turnDeny, .turnStaleNonce, .turnReject,
      .turnExpirePermissions, .turnExpireChannels, .turnDisconnect, .turnCertificate, .stunSilent, .signalDrop,
      .signalDelay, .signalDuplicate, .signalReorder, .signalCorrupt, .signalDisconnect, .signalBlackhole, .dtlsDrop,
      .dtlsFail, .dataChannelFail,
      .packetDrop, .packetForge, .clockJump, .deviceAudioLate, .deviceEventsLate, .deviceBackground, .deviceInactive,
      .deviceSuspend, .devicePhoneCall, .deviceAudioInterruption, .deviceKill, .deviceMemoryPressure,
      .deviceRouteChange, .deviceCameraInterruption, .deviceTraffic:
      false
    }
  }

  private func declare(
    _ parameters: [FaultParameter], extras: FaultDeclaration.Extras = .none, _ summary: String
  ) -> FaultDeclaration {
    FaultDeclaration(kind: self, parameters: parameters, extras: extras, summary: summary)
  }

  // MARK: Shared parameters

  private static let numbers = 1...1_000_000
  private static let ports = 1...65_535

  private static let link = FaultParameter("link", .link, required: true, "the link")
  private static let direction = FaultParameter(
    "direction", .value(.choice(Fault.Direction.allCases.map(\.rawValue))), "only this direction; both without it")

  private static let network = FaultParameter("network", .network, required: true, "the network whose router is meant")
  private static let transport = FaultParameter(
    "protocol", .value(.choice(["udp", "tcp", "all"])), "which packets; all without it")

  private static let server = FaultParameter("server", .server, required: true, "the server")
  private static let requests = FaultParameter.Kind.value(
    .choice(["allocate", "refresh", "create-permission", "channel-bind"]))
  private static let certificates = FaultParameter.Kind.value(
    .choice(Topology.Server.Certificate.allCases.map(\.rawValue)))

  private static let messages = [
    FaultParameter("message", .message, "only this message type; without it every frame, pings and connects too"),
    FaultParameter("from", .value(.peer), "only what this peer sends"),
    FaultParameter("to", .value(.peer), "only what goes to this peer"),
    FaultParameter("count", .count(numbers), "the first so many messages"), callServer,
  ]
  private static let callServer = FaultParameter(
    "server", .server, "the server of a profile at which it happens; needed where several come into question")

  private static let protocols = FaultParameter.Kind.value(.choice(["stun", "dtls", "rtp", "rtcp", "turn", "tls"]))
  private static let nth = FaultParameter(
    "nth", .counts(numbers),
    "only these, counted from 1 where they are sent (with 'to' where they arrive), since the fault began")
  private static let atMost = FaultParameter(
    "count", .count(numbers), "the first so many, counted where they are sent (with 'to' where they arrive)")
  private static let sender = FaultParameter("from", .value(.peer), "only what this peer sends")
  private static let receiver = FaultParameter(
    "to", .value(.peer), "only what reaches this peer")

  private static let victim = FaultParameter(
    "to", .value(.peer), required: true, "the peer, at which 'nth' and 'count' count what arrives")
  private static let forgedProtocols = ["stun", "dtls", "rtp", "rtcp"]

  private static func peer(_ summary: String) -> FaultParameter {
    FaultParameter("peer", .value(.peer), required: true, summary)
  }
}
