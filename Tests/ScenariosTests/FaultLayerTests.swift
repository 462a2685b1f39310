import CallCore
import Foundation
import Profiles
import STUN
import SimNet
import Testing
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioRun
@testable import TURN
@testable import VirtualPeer

/// Faults that last may overlap on one object in any order. A reference says what each makes true; those in force are
/// laid over what the world is without them, in order of start.
@Suite struct FaultLayerTests {
  /// Two instances of a fault and more are begun and ended in every order.
  struct Variant: CustomStringConvertible {
    var fault: String
    /// What is true of the object while it lasts and nothing newer says otherwise.
    var effect: [String: String]

    init(_ fault: String, _ effect: [String: String]) {
      self.fault = fault
      self.effect = effect
    }

    var description: String { fault }
  }

  /// An object of the world with the faults that act on it.
  struct Object: CustomStringConvertible, Sendable {
    var description: String
    var variants: @Sendable () -> [Variant]
    var read: @Sendable (World) throws -> [String: String]
  }

  static let objects = [link, nat, firewall, openBorder, relay, silence, device, app]

  // MARK: Objects

  static let link = Object(
    description: "link",
    variants: {
      let at = ", link: alice/home"
      return [
        Variant("link.down\(at)", ["up": "false"]),
        Variant("link.up\(at)", ["up": "true"]),
        Variant("link.flap\(at), down: 1h, up: 1s", ["up": "false"]),
        Variant("link.set\(at), delay: 300ms", ["tx.delay": "300 ms", "rx.delay": "300 ms"]),
        Variant("link.set\(at), delay: 100ms, direction: rx", ["rx.delay": "100 ms"]),
        Variant("link.set\(at), loss: 5%", ["tx.loss": "random(0.05)", "rx.loss": "random(0.05)"]),
        Variant("link.set\(at), rate: 1Mbps, direction: tx", ["tx.rate": "1000000"]),
        Variant("link.blackhole\(at)", ["tx.hole": "true", "rx.hole": "true"]),
        Variant("link.blackhole\(at), direction: tx", ["tx.hole": "true"]),
        Variant("link.blackhole\(at), larger_than: 700B", ["tx.above": "700", "rx.above": "700"]),
        Variant("link.one-way\(at), direction: tx", ["rx.hole": "true"]),
        Variant("link.move\(at), network: bob/wifi", ["network": "bob/wifi", "type": "wifi"]),
        Variant("link.move\(at), network: internet", ["network": "internet", "type": "ethernet"]),
      ]
    },
    read: { world in
      let link = try world.simulator.link("alice/home")
      let interface = world.simulator.interface(try #require(world.simulator.interface(attachedBy: link)))
      var state = [
        "up": "\(world.simulator.isUp(link))", "network": world.simulator.name(of: interface.network),
        "type": interface.type.rawValue,
      ]
      for side in LinkDirection.allCases {
        let settings = world.simulator.settings(of: link, side)
        state["\(side.rawValue).delay"] = "\(settings.delay.milliseconds) ms"
        state["\(side.rawValue).loss"] = "\(settings.loss)"
        state["\(side.rawValue).rate"] = settings.rate.map { "\($0.bitsPerSecond)" } ?? "unlimited"
        state["\(side.rawValue).hole"] = "\(settings.isBlackhole)"
        state["\(side.rawValue).above"] = settings.blackholeAbove.map { "\($0)" } ?? "none"
        state["\(side.rawValue).rest"] = "\(settings.queue) \(settings.jitter) \(settings.mtu)"
      }
      return state
    })

  static let nat = Object(
    description: "NAT",
    variants: {
      let at = "nat.set, network: alice/home"
      return [
        Variant("\(at), udp_idle: 60s", ["udp": "60"]),
        Variant("\(at), udp_idle: 20s, tcp_idle: 60s", ["udp": "20", "tcp": "60"]),
        Variant("\(at), map: address", ["map": "addressDependent"]),
        Variant("\(at), filter: endpoint-independent", ["filter": "endpointIndependent"]),
        Variant("\(at), ports: random", ["keeps port": "false"]),
        Variant("\(at), quota: 5", ["quota": "5"]),
      ]
    },
    read: { world in
      let nat = try #require(try world.simulator.natConfiguration(of: "alice/home"))
      return [
        "udp": "\(nat.timers.udpAnswered.milliseconds / 1_000)", "map": "\(nat.mapping)", "filter": "\(nat.filtering)",
        "tcp": "\(nat.timers.tcpEstablished.milliseconds / 1_000)", "keeps port": "\(nat.preservesPort)",
        "quota": nat.mappingsPerHost.map { "\($0)" } ?? "none", "hairpin": "\(nat.hairpinning)",
      ]
    })

  static let firewall = border("alice/home")
  /// A network whose router filters nothing by itself.
  static let openBorder = border("bob/wifi")

  private static func border(_ network: String) -> Object {
    let ports: [UInt16] = [443, 3_478, 9_999]
    @Sendable func forbidding(_ transports: [String], _ isForbidden: (UInt16) -> Bool) -> [String: String] {
      var effect: [String: String] = [:]
      for transport in transports {
        for port in ports where isForbidden(port) { effect["\(transport) \(port)"] = "no" }
      }
      return effect
    }
    return Object(
      description: "border of \(network)",
      variants: {
        let (block, allow) = ("firewall.block, network: \(network)", "firewall.allow, network: \(network)")
        return [
          Variant(block, forbidding(["udp", "tcp"]) { _ in true }),
          Variant("\(block), protocol: udp", forbidding(["udp"]) { _ in true }),
          Variant("\(block), protocol: tcp, ports: [9999]", forbidding(["tcp"]) { $0 == 9_999 }),
          Variant("\(block), ports: [3478]", forbidding(["udp", "tcp"]) { $0 == 3_478 }),
          Variant("\(allow), protocol: udp, ports: [443]", forbidding(["udp"]) { $0 != 443 }),
          Variant("\(allow), ports: [443, 3478]", forbidding(["udp", "tcp"]) { $0 == 9_999 }),
        ]
      },
      read: { world in
        let rules = try world.simulator.firewallRules(of: network)
        var state = ["inward": "\(rules?.inbound ?? .everything)"]
        for (name, transport) in [("udp", TransportProtocol.udp), ("tcp", .tcp)] {
          for port in ports {
            var firewall = Firewall(rules ?? .open)
            let verdict = firewall.decide(
              .outbound, source: Endpoint(IPAddress("10.0.0.2")!, port: 5_000),
              destination: Endpoint(IPAddress("192.0.2.1")!, port: port), protocol: transport, flags: .syn, at: .zero)
            state["\(name) \(port)"] = verdict == .pass ? "yes" : "no"
          }
        }
        return state
      })
  }

  static let relay = Object(
    description: "relay",
    variants: {
      [
        Variant("turn.deny, server: turn", ["create-permission": "403", "channel-bind": "403"]),
        Variant("turn.reject, server: turn, code: 500, request: allocate", ["allocate": "500"]),
        Variant("turn.reject, server: turn, code: 508, request: create-permission", ["create-permission": "508"]),
        Variant(
          "turn.reject, server: turn, code: 486",
          ["allocate": "486", "refresh": "486", "create-permission": "486", "channel-bind": "486"]),
      ]
    },
    read: { world in
      let turn = try #require(world.turnServer("turn"))
      let methods: [(String, STUNMethod)] = [
        ("allocate", .allocate), ("refresh", .refresh), ("create-permission", .createPermission),
        ("channel-bind", .channelBind),
      ]
      var state: [String: String] = [:]
      for (name, method) in methods {
        let codes = turn.machine.rejections.filter { $0.method == method }.map { "\($0.error.code)" }
        state[name] = codes.joined(separator: " ")
      }
      return state
    })

  static let silence = Object(
    description: "STUN server", variants: { [Variant("stun.silent, server: stun", ["silent": "true"])] },
    read: { ["silent": "\(try #require($0.stunServer("stun")).isSilent)"] })

  static let device = Object(
    description: "device",
    variants: {
      [
        Variant("device.audio-late, peer: alice, by: 50ms", ["late": "50"]),
        Variant("device.audio-late, peer: alice, by: 80ms", ["late": "80"]),
      ]
    },
    read: { ["late": "\(try #require($0.peer("alice")).device.audioLatency.milliseconds)"] })

  static let app = Object(
    description: "app",
    variants: {
      [
        Variant("device.background, peer: alice", ["left": "true"]),
        Variant("device.inactive, peer: alice", ["covered": "true"]),
        Variant("device.suspend, peer: alice", ["suspended": "true"]),
        Variant("device.audio-interruption, peer: alice", ["taken": "true"]),
        Variant("device.audio-interruption, peer: alice, ended_event: false", ["taken": "true", "untold": "true"]),
        Variant("device.phone-call, peer: alice, answered: true", ["phone": "answered"]),
        Variant("device.phone-call, peer: alice, answered: false", ["phone": "ringing"]),
        Variant("device.kill, peer: alice", ["killed": "true"]),
        Variant("device.memory-pressure, peer: alice", ["memory": "true"]),
        Variant("device.route-change, peer: alice, accessory: headset", ["accessory": "headset"]),
        Variant("device.camera-interruption, peer: alice, reason: video-in-use", ["camera": "video-in-use"]),
      ]
    },
    read: { world in
      let conditions = try #require(world.peer("alice")).lifecycle.conditions
      return [
        "left": "\(conditions.isLeft)", "covered": "\(conditions.isCovered)", "suspended": "\(conditions.isSuspended)",
        "taken": "\(conditions.isAudioTaken)", "untold": "\(conditions.isAudioEndUntold)",
        "phone": conditions.phoneCall.map { "\($0)" } ?? "none",
        "killed": "\(conditions.isKilled)", "memory": "\(conditions.isMemoryShort)",
        "accessory": conditions.accessories.last?.rawValue ?? "none",
        "camera": conditions.cameraInterruption?.rawValue ?? "none",
      ]
    })

  // MARK: The property

  /// A world with one object and the faults that act on it, not yet begun.
  struct Bench {
    let world: World
    let layer: FaultLayer
    let faults: [(variant: Variant, fault: Fault)]
    let object: Object
    let base: [String: String]

    init(_ object: Object) throws {
      self.object = object
      let variants = object.variants()
      let timeline = variants.map { "  - { at: 1s, fault: \($0.fault) }" }.joined(separator: "\n")
      let text = """
        callsim: 1
        id: test
        peers:
          alice: { profile: knotos, network: home }
          bob: { profile: knotos, network: wifi }
        topology:
          turn: true
          networks:
            alice/home: { profile: home, firewall: { allow_ports: [443, 3478, 9999, 5000] } }
          servers:
            stun: { kind: stun }
        timeline:
        \(timeline)
        expect:
          - { never: alice.call.state == connected }
        """
      let profiles = ProfileCatalogue.builtIn
      let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: profiles.registry)
      let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
      let scenario = file.cells[0].scenario
      let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
      world = try World(scenario: scenario, simulator: simulator)
      try WorldBuilder(scenario: scenario, profiles: profiles, outputs: RunOutputs(), world: world).build()
      layer = FaultLayer(world: world) { Issue.record($0) }
      faults = zip(variants, scenario.timeline).compactMap { variant, entry in
        guard case .fault(let fault, _) = entry.effect else { return nil }
        return (variant, fault)
      }
      base = try object.read(world)
    }

    /// What the object must be like with these faults in force, oldest first.
    func expected(_ active: [Int]) -> [String: String] {
      active.reduce(into: base) { state, index in state.merge(faults[index].variant.effect) { $1 } }
    }

    func state() throws -> [String: String] { try object.read(world) }
  }

  @Test(arguments: objects) func `two faults on one object overlap in every order`(object: Object) throws {
    let bench = try Bench(object)
    #expect(bench.faults.count == object.variants().count)
    for first in bench.faults.indices {
      for second in bench.faults.indices {
        for order in [["first", "second"], ["second", "first"]] {
          try bench.layer.apply(bench.faults[first].fault, entry: "first")
          var isRight = try bench.state() == bench.expected([first])
          try bench.layer.apply(bench.faults[second].fault, entry: "second")
          isRight = try bench.state() == bench.expected([first, second]) && isRight
          try bench.layer.clear(entry: order[0])
          isRight = try bench.state() == bench.expected([order[0] == "first" ? second : first]) && isRight
          try bench.layer.clear(entry: order[1])
          isRight = try bench.state() == bench.base && isRight
          let pair = "\(bench.faults[first].variant) and \(bench.faults[second].variant)"
          #expect(isRight, "\(pair), the \(order[0]) ends first")
        }
      }
    }
  }

  @Test(arguments: objects) func `any number of faults on one object begin and end at random`(object: Object) throws {
    let bench = try Bench(object)
    var random = RandomSource(seed: 7).stream("order")
    var active: [(entry: String, index: Int)] = []
    for step in 0..<400 {
      if active.count < 5, active.isEmpty || random.chance(0.5) {
        let index = Int(random.uniform(below: UInt64(bench.faults.count)))
        active.append(("\(step)", index))
        try bench.layer.apply(bench.faults[index].fault, entry: "\(step)")
      } else {
        let ended = active.remove(at: Int(random.uniform(below: UInt64(active.count))))
        try bench.layer.clear(entry: ended.entry)
      }
      #expect(try bench.state() == bench.expected(active.map(\.index)), "step \(step), \(active)")
    }
    try bench.layer.clearAll()
    #expect(try bench.state() == bench.base)
  }

  @Test func `each instance of an entry that fires again ends by itself`() throws {
    let bench = try Bench(Self.link)
    let hole = try #require(bench.faults.first { $0.variant.fault.contains("blackhole") }).fault
    let simulator = bench.world.simulator
    func isBlack(at time: Int64) throws -> Bool {
      simulator.run(until: .zero + .seconds(time))
      return try bench.state()["tx.hole"] == "true"
    }
    try bench.layer.apply(hole, entry: "again", for: .seconds(4))
    #expect(try isBlack(at: 3))
    try bench.layer.apply(hole, entry: "again", for: .seconds(4))
    #expect(try isBlack(at: 4))
    #expect(try isBlack(at: 6))
    #expect(try !isBlack(at: 7))
  }

  @Test func `what began and was cleared does not end a later instance`() throws {
    let bench = try Bench(Self.link)
    let down = bench.faults[0].fault
    try bench.layer.apply(down, entry: "a", for: .seconds(4))
    try bench.layer.clear(entry: "a")
    #expect(try bench.state() == bench.base)
    try bench.layer.apply(down, entry: "a")
    bench.world.simulator.run(until: .zero + .seconds(10))
    #expect(try bench.state()["up"] == "false")
    try bench.layer.clear(entry: "a")
    #expect(try bench.state() == bench.base)
  }

  @Test func `a flap goes down and up for its cycles and then is over`() throws {
    let bench = try Bench(Self.link)
    var flap = try #require(bench.faults.first { $0.variant.fault.contains("flap") }).fault
    flap.arguments = Arguments()
    for (name, value) in [("link", Value.text("alice/home")), ("down", .duration(.seconds(1)))] {
      flap.arguments.entries.append((name, Located(value)))
    }
    flap.arguments.entries.append(("up", Located(.duration(.seconds(2)))))
    flap.arguments.entries.append(("cycles", Located(.count(2))))
    try bench.layer.apply(flap, entry: "flap")
    var seen: [String] = []
    for half in 0..<14 {
      bench.world.simulator.run(until: .zero + .milliseconds(500 + 500 * Int64(half) + 100))
      let isUp = try bench.state()["up"] == "true"
      if seen.last != "\(isUp)" { seen.append("\(isUp)") }
    }
    #expect(seen == ["false", "true", "false", "true"])
    #expect(try bench.state() == bench.base)
  }

  @Test func `a link that starts down is down again after it went down and up`() throws {
    let bench = try Bench(Self.link)
    bench.world.simulator.setLink(try bench.world.simulator.link("alice/home"), isUp: false)
    try bench.layer.apply(bench.faults[0].fault, entry: "down")
    try bench.layer.clear(entry: "down")
    #expect(try bench.state()["up"] == "false")
  }

  @Test func `faults that end at one time leave nothing between them`() throws {
    let bench = try Bench(Self.link)
    let (down, up) = (bench.faults[0].fault, bench.faults[1].fault)
    try bench.layer.apply(down, entry: "down")
    try bench.layer.apply(up, entry: "up")
    let trace = bench.world.simulator.trace
    let states = StateChanges(trace)
    try bench.layer.clearAll()
    #expect(states.values.isEmpty)
  }

  /// The values of `link.state` in order.
  private final class StateChanges {
    var values: [String] = []

    init(_ trace: Trace) { trace.listen(to: NetworkEvents.linkState) { [self] _, value in values.append(value) } }
  }
}
