internal import CallCore
internal import STUN
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer
internal import Vocabulary

/// The effect of a fault on the world: its kind and arguments, typed.
enum FaultEffect {
  // Effects that last.
  case link(String, LinkChange)
  case nat(network: String, NATDraft)
  case firewall(network: String, FirewallChange)
  case rejection(server: String, [STUNMethod], STUNError)
  case silence(server: String)
  case certificate(server: String, Topology.Server.Certificate)
  case signalling(server: String?, SignallingFault)
  /// Closes a user's signalling connection, and resets those that the user opens while it lasts.
  case signallingRefusal(server: String?, peer: String)
  case packetRules([PacketRule])
  case audioLatency(peer: String, Interval)
  case eventLateness(peer: String, [ConnectionEventName], Interval)
  case deviceCondition(peer: String, DeviceCondition)
  case traffic(peer: String, CrossTraffic.Load)
  // Effects that are over at once.
  case natEvent(network: String, NATEvent)
  case turnEvent(server: String, TURNEvent)
  case clockJump(peer: String, Interval)
  case dtlsFailure(peer: String)
  case dataChannelFailure(peer: String)

  enum DeviceCondition {
    case left, covered, suspended, killed, memoryShort
    case audioTaken(isEndTold: Bool)
    case phoneCall(isAnswered: Bool)
    case accessory(AudioRoute.Accessory)
    case cameraInterruption(CameraInterruption)
  }

  enum LinkChange {
    case down, up
    case set(Topology.Impairments, Fault.Direction?)
    case flap(down: Interval, up: Interval, cycles: Int?)
    /// Drops packets larger than a number of bytes, or all packets.
    case blackhole(largerThan: Int?, Fault.Direction?)
    case oneWay(delivering: Fault.Direction)
    /// Connects the link to another network.
    case move(network: String)
  }

  enum NATEvent {
    /// Restarts with other outside addresses: nil keeps the old ones, empty allows any.
    case reboot([IPAddress]?)
    case expire, remap
  }

  enum TURNEvent {
    case restart, staleNonce, expirePermissions, expireChannels, disconnect
  }
}

extension FaultEffect {
  /// - Throws: when an argument is missing that the declaration of the fault requires, or a host does not exist.
  init(_ fault: Fault, in world: World) throws {
    let arguments = FaultArguments(fault)
    switch fault.kind {
    case .linkDown: self = .link(try arguments.text("link"), .down)
    case .linkUp: self = .link(try arguments.text("link"), .up)
    case .linkSet:
      guard let impairments = fault.impairments else { throw arguments.missing("impairments") }
      self = .link(try arguments.text("link"), .set(impairments, fault.direction))
    case .linkFlap:
      let (down, up) = (try arguments.duration("down"), try arguments.duration("up"))
      self = .link(try arguments.text("link"), .flap(down: down, up: up, cycles: fault.arguments.count("cycles")))
    case .linkBlackhole:
      let limit = fault.arguments["larger_than"].flatMap(\.number).map { Int($0) }
      self = .link(try arguments.text("link"), .blackhole(largerThan: limit, fault.direction))
    case .linkOneWay:
      guard let delivering = fault.direction else { throw arguments.missing("direction") }
      self = .link(try arguments.text("link"), .oneWay(delivering: delivering))

    case .linkMove:
      self = .link(try arguments.text("link"), .move(network: try arguments.text("network")))

    case .natReboot: self = .natEvent(network: try arguments.text("network"), .reboot(try arguments.newAddresses))
    case .natExpire: self = .natEvent(network: try arguments.text("network"), .expire)
    case .natRemap: self = .natEvent(network: try arguments.text("network"), .remap)
    case .natSet:
      guard let nat = fault.nat else { throw arguments.missing("nat") }
      self = .nat(network: try arguments.text("network"), nat)
    case .firewallBlock, .firewallAllow:
      guard let change = FirewallChange(fault) else { throw arguments.missing("ports") }
      self = .firewall(network: try arguments.text("network"), change)

    case .turnRestart: self = .turnEvent(server: try arguments.text("server"), .restart)
    case .turnStaleNonce: self = .turnEvent(server: try arguments.text("server"), .staleNonce)
    case .turnExpirePermissions: self = .turnEvent(server: try arguments.text("server"), .expirePermissions)
    case .turnExpireChannels: self = .turnEvent(server: try arguments.text("server"), .expireChannels)
    case .turnDisconnect: self = .turnEvent(server: try arguments.text("server"), .disconnect)
    case .turnCertificate:
      guard let certificate = Topology.Server.Certificate(rawValue: try arguments.text("certificate")) else {
        throw arguments.missing("certificate")
      }
      self = .certificate(server: try arguments.text("server"), certificate)
    case .turnDeny:
      self = .rejection(server: try arguments.text("server"), [.createPermission, .channelBind], .forbidden)
    case .turnReject:
      let error = STUNError(UInt16(clamping: try arguments.count("code")), "Rejected by the scenario")
      self = .rejection(server: try arguments.text("server"), arguments.methods, error)
    case .stunSilent: self = .silence(server: try arguments.text("server"))

    case .signalDrop: self = .signalling(server: fault.callServer, arguments.signallingFault(.drop, in: world))
    case .signalDelay:
      self = .signalling(
        server: fault.callServer, arguments.signallingFault(.delay(try arguments.duration("by")), in: world))
    case .signalDuplicate:
      self = .signalling(server: fault.callServer, arguments.signallingFault(.duplicate, in: world))
    case .signalReorder: self = .signalling(server: fault.callServer, arguments.signallingFault(.reorder, in: world))
    case .signalCorrupt:
      self = .signalling(server: fault.callServer, arguments.signallingFault(arguments.corruption, in: world))
    case .signalBlackhole:
      self = .signalling(server: fault.callServer, arguments.signallingFault(.blackhole, in: world))
    case .signalDisconnect: self = .signallingRefusal(server: fault.callServer, peer: try arguments.text("peer"))

    case .dtlsDrop: self = .packetRules(try arguments.packetRules(.dtls, in: world))
    case .dtlsFail: self = .dtlsFailure(peer: try arguments.text("peer"))
    case .dataChannelFail: self = .dataChannelFailure(peer: try arguments.text("peer"))
    case .packetDrop:
      guard let content = PacketContent(rawValue: try arguments.text("protocol")) else {
        throw arguments.missing("protocol")
      }
      self = .packetRules(try arguments.packetRules(content, in: world))
    case .packetForge:
      guard let content = PacketContent(rawValue: try arguments.text("protocol")) else {
        throw arguments.missing("protocol")
      }
      self = .packetRules(try arguments.packetRules(content, .forge, in: world))
    case .clockJump: self = .clockJump(peer: try arguments.text("peer"), try arguments.duration("by"))
    case .deviceAudioLate: self = .audioLatency(peer: try arguments.text("peer"), try arguments.duration("by"))
    case .deviceEventsLate:
      let names = fault.arguments.text("event").map { name in
        ConnectionEventName.allCases.filter { $0.rawValue == name }
      }
      self = .eventLateness(
        peer: try arguments.text("peer"), names ?? ConnectionEventName.allCases, try arguments.duration("by"))
    case .deviceBackground: self = .deviceCondition(peer: try arguments.text("peer"), .left)
    case .deviceInactive: self = .deviceCondition(peer: try arguments.text("peer"), .covered)
    case .deviceSuspend: self = .deviceCondition(peer: try arguments.text("peer"), .suspended)
    case .devicePhoneCall:
      guard case .flag(let isAnswered)? = fault.arguments["answered"] else { throw arguments.missing("answered") }
      self = .deviceCondition(peer: try arguments.text("peer"), .phoneCall(isAnswered: isAnswered))
    case .deviceAudioInterruption:
      let isEndTold = fault.arguments.flag("ended_event") ?? true
      self = .deviceCondition(peer: try arguments.text("peer"), .audioTaken(isEndTold: isEndTold))
    case .deviceKill: self = .deviceCondition(peer: try arguments.text("peer"), .killed)
    case .deviceMemoryPressure: self = .deviceCondition(peer: try arguments.text("peer"), .memoryShort)
    case .deviceRouteChange:
      guard let accessory = AudioRoute.Accessory(rawValue: try arguments.text("accessory")) else {
        throw arguments.missing("accessory")
      }
      self = .deviceCondition(peer: try arguments.text("peer"), .accessory(accessory))
    case .deviceCameraInterruption:
      guard let reason = CameraInterruption(rawValue: try arguments.text("reason")) else {
        throw arguments.missing("reason")
      }
      self = .deviceCondition(peer: try arguments.text("peer"), .cameraInterruption(reason))
    case .deviceTraffic:
      guard let direction = fault.direction else { throw arguments.missing("direction") }
      let size: Int? = if case .byteSize(let size) = fault.arguments["size"] { size } else { nil }
      self = .traffic(
        peer: try arguments.text("peer"),
        CrossTraffic.Load(
          direction: direction, flows: fault.arguments.count("flows") ?? 1, size: size,
          pause: fault.arguments.duration("pause")))
    }
  }
}

/// The arguments of a fault as types of the simulator.
private struct FaultArguments {
  private let fault: Fault
  private var arguments: Arguments { fault.arguments }

  init(_ fault: Fault) { self.fault = fault }

  func missing(_ key: String) -> HarnessError { HarnessError("\(fault.kind.rawValue) needs '\(key)'") }

  func text(_ key: String) throws -> String {
    guard let text = arguments.text(key) else { throw missing(key) }
    return text
  }

  func duration(_ key: String) throws -> Interval {
    guard let duration = arguments.duration(key) else { throw missing(key) }
    return duration
  }

  func count(_ key: String) throws -> Int {
    guard let count = arguments.count(key) else { throw missing(key) }
    return count
  }

  /// The new outside addresses of the NAT.
  var newAddresses: [IPAddress]? {
    get throws {
      guard let text = arguments.text("address") else { return nil }
      if text == "new" { return [] }
      guard let address = IPAddress(text) else { throw HarnessError("'\(text)' is no address") }
      return [address]
    }
  }

  var methods: [STUNMethod] {
    switch arguments.text("request") {
    case "allocate": [.allocate]
    case "refresh": [.refresh]
    case "create-permission": [.createPermission]
    case "channel-bind": [.channelBind]
    default: World.rejectableMethods
    }
  }

  /// The corruption of the whole text, or of one field.
  var corruption: SignallingFault.Effect {
    if let word = arguments.text("mutation") {
      if let mutation = FrameMutation(rawValue: word) { return .mutateFrame(mutation) }
      if let mutation = MessageMutation(word: word, field: arguments.text("field")) { return .mutate(mutation) }
    }
    guard let field = arguments.text("field") else { return .corrupt }
    return arguments.text("value").map { .set(field: field, $0) } ?? .damage(field: field)
  }

  func signallingFault(_ effect: SignallingFault.Effect, in world: World) -> SignallingFault {
    SignallingFault(
      effect, type: arguments.text("message"), from: arguments.text("from").map(world.scenario.userID),
      to: arguments.text("to").map(world.scenario.userID), count: arguments.count("count"))
  }

  func packetRules(
    _ content: PacketContent, _ action: PacketRule.Action = .drop, in world: World
  ) throws -> [PacketRule] {
    let sender = try arguments.text("from").map { try world.simulator.host($0) }
    let receiver = try arguments.text("to").map { try world.simulator.host($0) }
    var rule = PacketRule(
      content: content, flight: arguments.count("flight"), sender: sender, receiver: receiver,
      limit: arguments.count("count"))
    rule.action = action
    let numbers = (arguments.texts("nth") ?? []).compactMap { Int($0) }
    if numbers.isEmpty { return [rule] }
    return numbers.map { number in
      var one = rule
      one.skip = number - 1
      one.limit = 1
      return one
    }
  }
}
