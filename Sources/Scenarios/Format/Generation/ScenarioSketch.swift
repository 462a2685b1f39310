import CallCore
import Vocabulary

/// A random draft of a scenario, which may contain invalid parts.
struct ScenarioSketch: ~Copyable {
  private typealias Entries = [(key: String, value: YAMLNode)]

  private let registry: ProfileRegistry
  private var random: RandomStream
  private let peers: [String]
  private var hasPuppet = false
  private static let puppet = "mallory"
  private static let servers = ["hub", "stun", "relay"]
  private static let networks = ["internet", "house", "yard"]
  /// The ids of entries so far; ``faults`` are those of entries with a fault.
  private var entries: [String] = []
  private var faults: [String] = []
  private var definitions: [String] = []

  init(registry: ProfileRegistry, random seed: UInt64) {
    self.registry = registry
    random = RandomSource(seed: seed).stream("sketch")
    peers = Array(["alice", "bob", "carol"].prefix(2 + Int(random.uniform(below: 2))))
  }

  // MARK: - Chance

  private mutating func below(_ count: Int) -> Int { Int(random.uniform(below: UInt64(max(1, count)))) }
  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
  private mutating func duration(upTo milliseconds: Int = 20_000) -> YAMLNode {
    .plain(Quantity.written(.duration(.milliseconds(Int64(1 + below(milliseconds))))))
  }

  private var messages: [MessageDeclaration] { registry.vocabularies.first?.messages ?? [] }

  // MARK: - Root

  mutating func root() -> YAMLNode {
    hasPuppet = chance(30)
    var root: Entries = [("callsim", .plain("1")), ("id", .text("generated/\(below(1_000_000))"))]
    if chance(30) { root.append(("title", .text(pick(["one", "a: b", "true", "'x' # y", "two\nlines"])))) }
    if chance(20) { root.append(("why", .text("for its own sake"))) }
    if chance(30) { root.append(("tags", .list([.text("ci"), .text("t2")]))) }
    if chance(50) { root.append(("limits", some(of: Scenario.Limits.type.shape, chance: 50))) }
    root.append(("run", .plain("\(60 + below(60))s")))
    root.append(("media", .text(chance(50) ? "real" : "synthetic")))
    if chance(40) { root.append(("invariants", invariants())) }
    root.append(("topology", topology()))
    root.append(("peers", .mapping(peers.map { ($0, peer()) } + (hasPuppet ? [(Self.puppet, puppet)] : []))))
    let definitions: Entries = (0..<below(3)).map { ("truth\($0)", .plain(predicate())) }
    if !definitions.isEmpty { root.append(("define", .mapping(definitions))) }
    self.definitions = definitions.map(\.key)
    let timeline = calls() + (0..<below(7)).map { entry($0) }
    root.append(("timeline", .list(timeline)))
    root.append(("expect", .list((0..<(1 + below(6))).map { expectation($0) })))
    if chance(20) { root.append(("fuzz", fuzz())) }
    return .mapping(root)
  }

  private mutating func invariants() -> YAMLNode {
    .list(
      Invariant.allCases.filter { _ in chance(25) }.map { invariant in
        guard invariant.isDefault else { return .text("+" + invariant.rawValue) }
        return .mapping([("invariant", .text("-" + invariant.rawValue)), ("why", .text("to see the rest"))])
      })
  }

  private mutating func fuzz() -> YAMLNode {
    var own: Entries = []
    if chance(50) {
      own.append(("moves", .list(MoveKind.allCases.filter { _ in chance(40) }.map { .text($0.rawValue) })))
    }
    if chance(30) { own.append(("messages", .list(messages.filter { _ in chance(40) }.map { .text($0.name) }))) }
    if chance(30) { own.append(("senders", .list(peers.filter { _ in chance(50) }.map { .text($0) }))) }
    if chance(30) { own.append(("most", .plain("\(1 + below(10))"))) }
    if chance(30) { own.append(("runs", .plain("\(1 + below(1_000))"))) }
    return .mapping(own)
  }

  // MARK: - Networks and peers

  private mutating func topology() -> YAMLNode {
    var house: Entries = [("cidr", .plain("192.168.0.0/16"))]
    house.append(("nat", some(of: NATDraft.type.shape, chance: 12, besides: [("to", .text("internet"))])))
    if chance(20) { house.append(("firewall", some(of: Topology.Firewall.type.shape, chance: 40))) }
    if chance(20) { house.append(("mtu", .plain("\(1_200 + below(300))B"))) }
    if chance(20) { house.append(("isolated", .plain("true"))) }
    var yard: Entries = [("cidr", .plain("203.0.114.0/24")), ("to", .text("internet"))]
    if chance(30) { yard.append(("type", .text(pick(Topology.NetworkType.allCases).rawValue))) }
    if chance(20) { yard.append(("firewall", some(of: Topology.Firewall.type.shape, chance: 30))) }
    let networks: Entries = [
      ("internet", .mapping([("cidr", .plain("203.0.113.0/24"))])), ("house", .mapping(house)),
      ("yard", .mapping(yard)),
    ]
    let links: Entries = peers.flatMap { peer -> Entries in
      var links: Entries = [("\(peer)-line", link(of: peer, to: pick(Self.networks)))]
      if chance(20) { links.append(("\(peer)-spare", link(of: peer, to: pick(Self.networks)))) }
      return links
    }
    let servers: Entries = [
      ("hub", server("signalling")), ("stun", server("stun")), ("relay", server("turn")),
    ]
    return .mapping([("networks", .mapping(networks)), ("links", .mapping(links)), ("servers", .mapping(servers))])
  }

  private mutating func link(of peer: String, to network: String) -> YAMLNode {
    let own: Entries = [("from", .text(peer)), ("to", .text(network))]
    return some(of: LinkDraft.type.shape, chance: 15, besides: own)
  }

  private mutating func server(_ kind: String) -> YAMLNode {
    var own: Entries = [("kind", .text(kind))]
    if chance(30) { own.append(("network", .text(pick(["internet", "yard"])))) }
    if kind == "turn", chance(60) { own.append(("transports", .list(["udp", "tcp", "tls"].map { .text($0) }))) }
    return some(of: ServerDraft.type.shape, chance: kind == "turn" ? 25 : 8, besides: own)
  }

  private mutating func peer() -> YAMLNode {
    var own: Entries = [("profile", .text(registry.vocabularies.first?.profile ?? ""))]
    for (key, shape, percent) in [
      ("devices", Scenario.Devices.type.shape, 20), ("audio", Scenario.Audio.type.shape, 30),
      ("ice", Scenario.ICESettings.type.shape, 30), ("dtls", Scenario.DTLSSettings.type.shape, 20),
      ("clock", Scenario.Clock.type.shape, 20),
    ] where chance(percent) {
      own.append((key, some(of: shape, chance: 40)))
    }
    let declared = registry.vocabularies.first?.settings ?? []
    let settings: Entries = declared.filter { _ in chance(10) }.map { ($0.name, value($0.type)) }
    if !settings.isEmpty { own.append(("settings", .mapping(settings))) }
    return .mapping(own)
  }

  private var puppet: YAMLNode { .mapping([("stack", .text("puppet"))]) }

  // MARK: - Values by their declaration

  /// Keys that refer to names outside the sketch, or that are drawn elsewhere.
  private static let untouched = ["profile", "use", "why", "from", "to", "kind of", "network", "net", "interface"]

  private mutating func some(
    of shape: MappingShape, chance percent: Int, besides own: [(key: String, value: YAMLNode)] = []
  ) -> YAMLNode {
    var entries = own
    for key in shape.keys where !Self.untouched.contains(key.name) && !own.contains(where: { $0.key == key.name }) {
      guard key.isRequired || chance(percent), let value = value(key.shape, of: key.name) else { continue }
      entries.append((key.name, value))
    }
    return .mapping(entries)
  }

  private mutating func value(_ shape: Shape, of key: String) -> YAMLNode? {
    if key == "servers" { return .list([.text(pick(["stun", "relay"]))]) }
    switch shape {
    case .flag: return .plain(chance(50) ? "true" : "false")
    case .integer(let range): return .plain("\(range.lowerBound + below(min(range.count, 60)))")
    case .real: return .plain("\(below(100)).5")
    case .quantity(let units): return quantity(units)
    case .text: return .text("text \(below(10))")
    case .pattern(let pattern): return pattern.hasPrefix("^[0-9]+-") ? .plain("\(3 + below(5))-\(20 + below(9))") : nil
    case .choice(let words): return .text(pick(words))
    case .constant(let number): return .plain("\(number)")
    case .list(let member, let range):
      let count = max(range.lowerBound, min(range.upperBound, 1 + below(3)))
      return .list((0..<count).compactMap { _ in value(member, of: key) })
    case .distinct(let list): return value(list, of: key)
    case .named: return nil
    case .mapping(let mapping): return some(of: mapping, chance: 35)
    case .either(let shapes): return value(pick(shapes), of: key)
    case .anyScalar: return .plain("\(below(10))")
    }
  }

  private mutating func quantity(_ units: [String]) -> YAMLNode {
    if units.contains("ms") { return duration(upTo: pick([50, 500, 20_000])) }
    if units.contains("kbps") { return .plain("\(20 + below(490))kbps") }
    if units.contains("kB") { return .plain("\(600 + below(900))B") }
    return .plain(chance(30) ? "\(1 + below(300))ppm" : "\(1 + below(40)).\(below(10))%")
  }

  private mutating func value(_ type: ValueType) -> YAMLNode {
    switch type {
    case .count: .plain("\(below(20))")
    case .real: .plain("\(below(20)).25")
    case .flag: .plain(chance(50) ? "true" : "false")
    case .text: .text("word")
    case .duration: duration()
    case .rate: quantity(Quantity.rateUnits)
    case .percentage: quantity(Quantity.percentUnits)
    case .byteSize: quantity(Quantity.byteUnits)
    case .peer: .text(pick(peers))
    case .peers: .list([.text(pick(peers))])
    case .choice(let words): .text(pick(words))
    }
  }

  // MARK: - The timeline

  private mutating func calls() -> [YAMLNode] {
    entries += ["go", "bye"]
    return [
      .mapping([("id", .text("go")), ("at", .plain("0s")), ("do", .text("alice.call")), ("to", .text("bob"))]),
      .mapping([("when", .plain("bob.call.state == ringing")), ("after", .plain("1s")), ("do", .text("bob.accept"))]),
      .mapping([("id", .text("bye")), ("at", .plain("50s")), ("do", .text("alice.hangup"))]),
    ]
  }

  private mutating func entry(_ number: Int) -> YAMLNode {
    let id = "entry\(number)"
    let isMark = chance(10)
    var entry: Entries = isMark || chance(30) ? [] : [("id", .text(id))]
    entry += trigger()
    let isNamed = isMark || !entry.isEmpty && entry[0].key == "id"
    switch below(10) {
    case _ where isMark: entry.append(("mark", .text(id)))
    case 0 where !faults.isEmpty: entry.append(("clear", .text(pick(faults))))
    case 1 where hasPuppet: entry += send()
    case 0...2: entry += action()
    default:
      entry += fault()
      if isNamed { faults.append(id) }
    }
    if isNamed { entries.append(id) }
    if chance(10) { entry.append(("why", .text("to see"))) }
    return .mapping(entry)
  }

  private mutating func trigger() -> [(key: String, value: YAMLNode)] {
    switch below(6) {
    case 0: return [("after", duration()), ("of", .plain(anchor()))]
    case 1:
      var when: Entries = [("when", .plain(predicate()))]
      if chance(30) { when.append(("after", duration(upTo: 900))) }
      if chance(20) { when.append(("times", .plain("\(1 + below(3))"))) }
      return when
    case 2:
      var every: Entries = [("every", duration())]
      if chance(40) { every.append(("of", .plain(anchor()))) }
      every.append(chance(50) ? ("until", .plain(anchor())) : ("times", .plain("\(1 + below(4))")))
      return every
    default: return [("at", duration(upTo: 40_000))]
    }
  }

  private mutating func action() -> [(key: String, value: YAMLNode)] {
    let actions = (registry.vocabularies.first?.actions ?? []) + [CommonVocabulary.switchNetwork]
    let action = pick(actions)
    var entry: Entries = [("do", .text("\(pick(peers)).\(action.name)"))]
    for parameter in action.parameters where parameter.isRequired || chance(40) {
      if let bar = parameter.bar, entry.contains(where: { $0.key == bar }) { continue }
      entry.append((parameter.name, value(parameter.type)))
    }
    if chance(20) { entry.append(("refused", chance(50) ? .plain("true") : .text("no connected call"))) }
    return entry
  }

  private mutating func send() -> [(key: String, value: YAMLNode)] {
    var entry: Entries = [
      ("send", .text(pick(messages.map(\.name)))),
      ("from", .text(Self.puppet)),
      ("to", .text(pick(peers))),
    ]
    if chance(60) {
      let fields: Entries = [
        ("callId", .text("c")), ("count", .plain("7")), ("text", .text("true")),
        ("list", .list([.plain("1.5"), .plain("2s")])),
      ]
      entry.append(("fields", .mapping(fields.filter { _ in chance(60) })))
    }
    return entry
  }

  private mutating func fault() -> [(key: String, value: YAMLNode)] {
    let kind = pick(FaultKind.allCases)
    let declaration = kind.declaration
    var entry: Entries = [("fault", .text(kind.rawValue))]
    for parameter in declaration.parameters where parameter.isRequired || chance(35) {
      entry.append((parameter.name, argument(parameter)))
    }
    switch declaration.extras {
    case .none: break
    case .impairments: entry += some(of: Topology.Impairments.type.shape, chance: 40).pairs
    case .nat: entry += some(of: NATDraft.behaviorType.shape, chance: 20).pairs
    }
    if declaration.lasts, chance(60) { entry.append(("for", duration(upTo: 5_000))) }
    return entry
  }

  private mutating func argument(_ parameter: FaultParameter) -> YAMLNode {
    switch parameter.kind {
    case .value(let type) where parameter.name == "address" && type == .text: .text("new")
    case .value(let type): value(type)
    case .list(let type): .list([value(type)])
    case .count(let range): .plain("\(range.lowerBound + below(min(range.count, 9)))")
    case .counts(let range): .list((0..<(1 + below(2))).map { .plain("\(range.lowerBound + $0)") })
    case .link: .text(pick(peers) + "-line")
    case .network: .text(pick(parameter.summary.contains("router") ? ["house"] : Self.networks))
    case .server: .text(pick(["relay", "relay", "stun"]))
    case .message: .text(pick(messages.map(\.name)))
    case .field: .text(pick(messages.flatMap(\.everyField).map(\.name)))
    }
  }

  // MARK: - Expectations

  private mutating func anchor() -> String {
    switch below(5) {
    case 0: pick(["start", "end"])
    case 1: "\(1 + below(50))s"
    case 2: "\(pick(peers)).connected"
    case 3 where !definitions.isEmpty: pick(definitions)
    default: pick(entries.isEmpty ? ["start"] : entries)
    }
  }

  private mutating func predicate(depth: Int = 0) -> String {
    switch below(depth > 2 ? 4 : 7) {
    case 0: return "\(pick(peers)).audible"
    case 1 where !definitions.isEmpty: return pick(definitions)
    case 2: return "wire.packets(from: \(pick(peers))) > \(below(100))"
    case 4: return "not (\(predicate(depth: depth + 1)))"
    case 5, 6:
      let word = chance(50) ? " and " : " or "
      return (0..<2).map { _ in "(\(predicate(depth: depth + 1)))" }.joined(separator: word)
    default:
      let states = registry.vocabularies.first?.machines.first
      let (name, words) = (states?.name ?? "", states?.states.map(\.name) ?? [])
      let peer = pick(peers)
      return chance(30)
        ? "\(peer).\(name) in [\(words[0]), \(words[words.count - 1])]" : "\(peer).\(name) == \(pick(words))"
    }
  }

  private mutating func window() -> [(key: String, value: YAMLNode)] {
    chance(40) ? [("between", .list([.plain(anchor()), .plain(anchor())]))] : []
  }

  private mutating func within(_ isNeeded: Bool = false) -> [(key: String, value: YAMLNode)] {
    guard isNeeded || chance(60) else { return [] }
    return [("within", duration())] + (!isNeeded && chance(50) ? [("of", .plain(anchor()))] : [])
  }

  private mutating func expectation(_ number: Int) -> YAMLNode {
    let main = registry.vocabularies.first?.machines.first
    let path = "\(pick(peers)).\(main?.name ?? "")"
    let states = main?.states.map(\.name) ?? [""]
    var entry: Entries = chance(40) ? [("id", .text("expected\(number)"))] : []
    switch below(11) {
    case 0:
      entry += [
        ("sequence", .text(path)),
        ("is", .list([.text(pick(states)), .mapping([("state", .text(pick(states))), ("by", duration())])])),
      ]
      if chance(30) { entry.append(("strict", .plain("true"))) }
      entry += window()
    case 1:
      entry += [("set", .text(path)), ("contains", .list([.text(pick(states))]))] + window()
      if chance(30) { entry.append(("strict", .plain("true"))) }
    case 2:
      entry += [("eventually", .plain(predicate()))] + within()
      if chance(30) { entry.append(("hold", duration())) }
    case 3: entry += [("always", .plain(predicate()))] + window()
    case 4: entry += [("never", .plain(predicate()))] + (chance(40) ? [("until", .plain(anchor()))] : window())
    case 5:
      let parts: Entries = [("if", .plain(predicate())), ("then", .plain(predicate()))]
      entry.append(("leads_to", .mapping(parts + within(true))))
    case 6:
      let codes = registry.vocabularies.first?.endCodes.map(\.name) ?? []
      entry += [
        ("ends", .text(pick(peers))),
        ("code", chance(50) ? .text(pick(codes)) : .list([.text(pick(codes)), .text(codes[0])])),
      ]
      entry += within()
    case 7:
      entry += [("count", .plain(chance(50) ? "\(pick(peers)).connected" : predicate()))] + window()
      entry.append((pick(["lt", "lte", "gt", "gte", "eq"]), .plain("\(1 + below(5))")))
    case 8 where !faults.isEmpty:
      entry += [("recovers", .text(pick(faults))), ("to", chance(50) ? .text("media-both-ways") : .plain(predicate()))]
      entry += within(true)
    case 9: entry += metric()
    default: entry.append(("sometimes", .plain(predicate())))
    }
    if chance(20) { entry.append(("severity", .text("warn"))) }
    if chance(10) { entry.append(("share", .mapping([("gte", quantity(Quantity.percentUnits))]))) }
    if chance(10) { entry.append(("why", .text("it is so"))) }
    return .mapping(entry)
  }

  private mutating func metric() -> [(key: String, value: YAMLNode)] {
    let stat = pick(["last", "first", "min", "max", "mean", "sum", "count", "rate", "delta", "p5", "p95"])
    let wire = chance(30)
    let path = wire ? "wire.packets(from: \(pick(peers)))" : "\(pick(peers)).stats.remote-inbound-rtp.audio.packetsLost"
    var entry: [(key: String, value: YAMLNode)] = [("metric", .text(path)), ("stat", .text(stat))]
    if chance(30) { entry.append(("window", .list([.plain(anchor()), .plain(anchor())]))) }
    if chance(20) { entry.append(("across", .text("seeds"))) }
    entry.append((pick(["lt", "lte", "gt", "gte"]), .plain(chance(50) ? "\(1 + below(50))" : "\(1 + below(50)).5")))
    return entry
  }
}

extension YAMLNode {
  fileprivate var pairs: [(key: String, value: YAMLNode)] { entries?.map { ($0.key, $0.value) } ?? [] }
}
