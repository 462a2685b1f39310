import CallCore
import SimNet

/// A NAT in a file. Missing values come from the profile or kind that it names, or are defaults.
package struct NATDraft: Sendable, Equatable {
  var to: Located<String>?
  var profile: Located<String>?
  var kind: Located<NATKind>?
  var map: Topology.MappingBehavior?
  var filter: Topology.FilteringBehavior?
  var udpIdle: Interval?
  var udpFirst: Interval?
  var udpUnanswered: Interval?
  var udpAnswered: Interval?
  var udpAnsweredAge: Interval?
  var tcpIdle: Interval?
  var tcpOpening: Interval?
  var tcpClosing: Interval?
  var tcpReset: Interval?
  var refresh: Topology.Refresh?
  var ports: Topology.PortAllocation?
  var portsIfTaken: Topology.PortChoice?
  var keepsParity: Bool?
  var portRange: ClosedRange<UInt16>?
  var overloadsPorts: Bool?
  var portReuseDelay: Interval?
  var hairpin: Topology.Hairpin?
  var quota: Int?
  var totalQuota: Int?
  var blocks: Topology.PortBlocks?
  var addresses: Int?
  var pooling: Topology.Pooling?
  var adoptsTCP: Bool?

  private typealias Key = MappingType<NATDraft>.Key

  /// The behaviour of a NAT, which networks declare and `nat.set` changes under existing mappings.
  static let behaviorType = MappingType(
    "nat behaviour", "mapping, filtering and timers by RFC 4787", NATDraft(), behavior)

  static let type = MappingType(
    "nat", "a network address translator", NATDraft(),
    [
      .key("to", ValueFormat<Located<String>>.name, \.to, default: "the internet", "the network outside"),
      .key(
        "profile", ValueFormat<Located<String>>.name, \.profile,
        "a named network whose NAT gives the keys left out here"),
      .key(
        "addresses", .count(1...64), \.addresses, default: "1", "how many outside addresses it has (RFC 4787 REQ-2)"),
      .key(
        "overload", .flag, \.overloadsPorts, default: "false",
        "one port for several mappings that go elsewhere, against REQ-3"),
      .key("blocks", Topology.PortBlocks.type.format, \.blocks, "ports in runs, each of one inside host (RFC 7422)"),
    ] + behavior)

  private static let behavior: [Key] =
    [
      .key(
        "kind", ValueFormat<NATKind>.choice.located, \.kind,
        "a NAT met in the field, which gives the keys left out here"),
      .key("map", .choice, \.map, default: "endpoint-independent", "which destinations share an outside port"),
      .key("filter", .choice, \.filter, default: "address-and-port", "who may send to a mapping"),
    ] + timers + ports + limits

  private static let timers: [Key] = [
    .key("udp_idle", .duration(.positive), \.udpIdle, default: "300s", "an idle UDP mapping lives so long (REQ-5)"),
    .key("udp_first", .duration(.positive), \.udpFirst, default: "udp_idle", "UDP after one packet only"),
    .key(
      "udp_unanswered", .duration(.positive), \.udpUnanswered, default: "udp_idle", "UDP without an answer yet"),
    .key("udp_answered", .duration(.positive), \.udpAnswered, default: "udp_idle", "UDP that was answered"),
    .key(
      "udp_answered_age", .duration(), \.udpAnsweredAge, default: "0s", "how old a mapping must be to count as answered"
    ),
    .key(
      "tcp_idle", .duration(.positive), \.tcpIdle, default: "7440s", "an established TCP connection (RFC 5382 REQ-5)"),
    .key("tcp_opening", .duration(.positive), \.tcpOpening, default: "240s", "TCP before both sides have spoken"),
    .key("tcp_closing", .duration(.positive), \.tcpClosing, default: "240s", "TCP after both sides have said FIN"),
    .key("tcp_reset", .duration(.positive), \.tcpReset, default: "240s", "TCP after an RST (RFC 7857 section 2.2)"),
    .key("refresh", .choice, \.refresh, default: "outbound", "which packets keep a UDP mapping alive (REQ-6)"),
    .key("adopt_tcp", .flag, \.adoptsTCP, default: "true", "whether a connection outlives a reboot of the NAT"),
  ]

  private static let ports: [Key] = [
    .key("ports", .choice, \.ports, default: "preserve", "which outside port a new mapping gets"),
    .key(
      "ports_if_taken", .choice, \.portsIfTaken, default: "random",
      "which one it gets when ports are preserved and its own is taken"),
    .key("parity", .flag, \.keepsParity, default: "false", "even ports map to even ones, odd to odd (REQ-4)"),
    .key("port_range", range, \.portRange, default: "[1, 65535]", "the lowest and the highest port there is"),
    .key(
      "port_reuse_delay", .duration(), \.portReuseDelay, default: "0s", "a freed port is left alone (RFC 6888 REQ-8)"),
    .key("pooling", .choice, \.pooling, default: "paired", "whether a host keeps one of several addresses (REQ-2)"),
    .key("hairpin", Topology.Hairpin.format, \.hairpin, default: "false", hairpinSummary),
  ]

  private static let hairpinSummary =
    "whether inside hosts reach each other by outside addresses, and as whom; true is external (REQ-9)"

  private static let limits: [Key] = [
    .key("quota", .count(1...65_535), \.quota, "most mappings of one inside host (RFC 6888 REQ-4)"),
    .key("total_quota", .count(1...1_000_000), \.totalQuota, "most mappings of all together (RFC 6888 REQ-5)"),
  ]

  private static let range = ValueFormat<Int>.count(1...65_535).list(atLeast: 2, atMost: 2)
    .map { ends, span, reading -> ClosedRange<UInt16>? in
      guard ends[0] <= ends[1] else {
        reading.report(.outOfRange, "the lowest port, \(ends[0]), is above the highest, \(ends[1])", at: span)
        return nil
      }
      return UInt16(ends[0])...UInt16(ends[1])
    } back: {
      [Int($0.lowerBound), Int($0.upperBound)]
    }

  /// Returns these values over those of `base`. With a kind of its own a NAT takes no single values of `base`.
  func over(_ base: NATDraft?) -> NATDraft {
    guard let base else { return self }
    var nat = kind == nil ? base : NATDraft()
    nat.profile = nil
    nat.to = to ?? base.to
    nat.addresses = addresses ?? base.addresses
    nat.kind = kind ?? base.kind
    // A new `udp_idle` overrides the specific UDP times of the base.
    if udpIdle != nil { (nat.udpFirst, nat.udpUnanswered, nat.udpAnswered) = (nil, nil, nil) }
    for (_, take) in Self.values { _ = take(self, &nat) }
    return nat
  }

  /// The single values by key; `take` copies the value of the first draft to the second, and returns whether it is
  /// set.
  private static var values: [(key: String, take: (NATDraft, inout NATDraft) -> Bool)] {
    func value<Value>(
      _ key: String, _ path: WritableKeyPath<NATDraft, Value?>
    ) -> (String, (NATDraft, inout NATDraft) -> Bool) {
      (
        key,
        { from, to in
          guard let value = from[keyPath: path] else { return false }
          to[keyPath: path] = value
          return true
        }
      )
    }
    return [
      value("map", \.map), value("filter", \.filter), value("udp_idle", \.udpIdle), value("udp_first", \.udpFirst),
      value("udp_unanswered", \.udpUnanswered), value("udp_answered", \.udpAnswered),
      value("udp_answered_age", \.udpAnsweredAge), value("tcp_idle", \.tcpIdle), value("tcp_opening", \.tcpOpening),
      value("tcp_closing", \.tcpClosing), value("tcp_reset", \.tcpReset), value("refresh", \.refresh),
      value("adopt_tcp", \.adoptsTCP), value("ports", \.ports), value("ports_if_taken", \.portsIfTaken),
      value("parity", \.keepsParity), value("port_range", \.portRange),
      value("port_reuse_delay", \.portReuseDelay), value("overload", \.overloadsPorts), value("pooling", \.pooling),
      value("hairpin", \.hairpin), value("quota", \.quota), value("total_quota", \.totalQuota),
      value("blocks", \.blocks),
    ]
  }

  /// The values that are set, each alone in a draft and with its key.
  var parts: [(key: String, draft: NATDraft)] {
    Self.values.compactMap { key, take in
      var part = NATDraft()
      return take(self, &part) ? (key, part) : nil
    }
  }

  /// Returns `base` with the values that are set here.
  func over(_ base: Topology.NAT) -> Topology.NAT {
    var nat = kind?.value.nat ?? base
    nat.addresses = addresses ?? base.addresses
    nat.map = map ?? nat.map
    nat.filter = filter ?? nat.filter
    if let udpIdle {
      (nat.timers.udpFirst, nat.timers.udpUnanswered, nat.timers.udpAnswered) = (udpIdle, udpIdle, udpIdle)
    }
    nat.timers.udpFirst = udpFirst ?? nat.timers.udpFirst
    nat.timers.udpUnanswered = udpUnanswered ?? nat.timers.udpUnanswered
    nat.timers.udpAnswered = udpAnswered ?? nat.timers.udpAnswered
    nat.timers.udpAnsweredAge = udpAnsweredAge ?? nat.timers.udpAnsweredAge
    nat.timers.tcpEstablished = tcpIdle ?? nat.timers.tcpEstablished
    nat.timers.tcpOpening = tcpOpening ?? nat.timers.tcpOpening
    nat.timers.tcpClosing = tcpClosing ?? nat.timers.tcpClosing
    nat.timers.tcpReset = tcpReset ?? nat.timers.tcpReset
    nat.refresh = refresh ?? nat.refresh
    nat.ports = ports ?? nat.ports
    nat.portsIfTaken = portsIfTaken ?? nat.portsIfTaken
    nat.keepsParity = keepsParity ?? nat.keepsParity
    nat.portRange = portRange ?? nat.portRange
    nat.overloadsPorts = overloadsPorts ?? nat.overloadsPorts
    nat.portReuseDelay = portReuseDelay ?? nat.portReuseDelay
    nat.hairpin = hairpin ?? nat.hairpin
    nat.quota = quota ?? nat.quota
    nat.totalQuota = totalQuota ?? nat.totalQuota
    nat.blocks = blocks ?? nat.blocks
    nat.pooling = pooling ?? nat.pooling
    nat.adoptsTCP = adoptsTCP ?? nat.adoptsTCP
    return nat
  }
}

extension NATDraft {
  /// Returns the behaviour of a running NAT after the change. The number of addresses and the port blocks of `base`
  /// stay, even if the kind changes.
  package func changing(_ base: Topology.NAT) -> Topology.NAT {
    var nat = over(base)
    guard kind != nil, let blocks = base.blocks else { return nat }
    nat.blocks = blocks
    nat.portRange = portRange ?? base.portRange
    nat.pooling = pooling ?? base.pooling
    return nat
  }
}

extension NATDraft {
  /// Creates a draft of the values that differ from the defaults.
  init(_ nat: Topology.NAT) {
    let usual = Topology.NAT()
    func said<Value: Equatable>(_ path: KeyPath<Topology.NAT, Value>) -> Value? {
      nat[keyPath: path] == usual[keyPath: path] ? nil : nat[keyPath: path]
    }
    map = said(\.map)
    filter = said(\.filter)
    udpFirst = said(\.timers.udpFirst)
    udpUnanswered = said(\.timers.udpUnanswered)
    udpAnswered = said(\.timers.udpAnswered)
    udpAnsweredAge = said(\.timers.udpAnsweredAge)
    tcpIdle = said(\.timers.tcpEstablished)
    tcpOpening = said(\.timers.tcpOpening)
    tcpClosing = said(\.timers.tcpClosing)
    tcpReset = said(\.timers.tcpReset)
    refresh = said(\.refresh)
    ports = said(\.ports)
    portsIfTaken = said(\.portsIfTaken)
    keepsParity = said(\.keepsParity)
    portRange = said(\.portRange)
    overloadsPorts = said(\.overloadsPorts)
    portReuseDelay = said(\.portReuseDelay)
    hairpin = said(\.hairpin)
    quota = nat.quota
    totalQuota = nat.totalQuota
    blocks = nat.blocks
    addresses = said(\.addresses)
    pooling = said(\.pooling)
    adoptsTCP = said(\.adoptsTCP)
  }
}

extension Topology.PortBlocks {
  static let type = MappingType(
    "port blocks", "ports that a NAT gives out in runs, each of one inside host", Topology.PortBlocks(),
    [
      .key("size", .count(1...65_535), \.size, required: true, "ports in a block, for UDP and TCP alike"),
      .key("most", .count(1...65_535), \.most, default: "1", "most blocks of one inside host"),
    ])
}

extension Topology.Hairpin {
  /// Reads a flag, or the source endpoint that the receiver sees.
  static let format: ValueFormat<Topology.Hairpin> = {
    let word = ValueFormat<Topology.Hairpin>.choice
    let flag = ValueFormat<Bool>.flag
    return ValueFormat(.either([flag.shape, word.shape])) { node, reading in
      if let flag = node.scalar?.flag { return flag ? .external : Topology.Hairpin.none }
      return word.decode(node, &reading)
    } encode: { hairpin in
      hairpin == .none ? flag.encode(false) : word.encode(hairpin)
    }
  }()
}
