/// What a NAT does, in worlds where it matters: as a key of a NAT, and as a change of one that runs.
struct NATCases {
  let place: String
  /// A world with the hole in its NAT, or in a change of it. Beside it the NAT and the timeline get what is given.
  let world: (_ beside: (nat: String, timeline: String)) -> String

  var all: [KeyCase] { mappings + ports + hosts + udpTimers + tcpTimers }

  /// A second call, which nobody answers.
  private static let again = """
      - { at: 20s, do: alice.call, to: bob }
      - { at: 25s, do: alice.hangup }
    """
  /// Alice hangs up and bob is not told, so he goes on sending.
  private static let unheard =
    "  - { at: 200ms, fault: signal.drop, message: call_hangup, for: 50s }\n\(KeyWorld.later)"
  private static let reboot = "  - { at: 5s, fault: nat.reboot, network: home }\n\(KeyWorld.later)"
  private static let disconnect = "  - { at: 16s, fault: signal.disconnect, peer: alice, for: 1s }\n\(KeyWorld.later)"
  /// No STUN server answers.
  private static let silence = "  - { at: 10ms, fault: stun.silent, server: stun }\n\(KeyWorld.later)"
  private static let narrow = ", port_range: [40000, 40100]"
  /// Every flow is a mapping.
  private static let perFlow = ", map: address-and-port"

  private var plain: String { world(("", "")) }
  private var long: String { world(("", KeyWorld.later)) }
  /// Bob is heard before alice has sent him anything.
  private var slow: String {
    plain.replacing("a: { from: alice, to: home }", with: "a: { from: alice, to: home, delay: 100ms }")
      .replacing(
        "cidr: 192.168.2.0/24, nat: { to: out }", with: "cidr: 192.168.2.0/24, nat: { to: out, map: address-and-port }")
  }

  private func words(_ key: String, _ template: String, after other: String = "") -> KeyCase {
    values(key, DeclaredKeys.words(of: "nat.\(key)"), template, after: other)
  }

  private func values(_ key: String, _ values: [String], _ template: String, after other: String = "") -> KeyCase {
    KeyCase("\(place).\(key)", values.map { ", \(key): \($0)" }, Self.with(other, template))
  }

  /// What else the NAT does, from the start: what is changed later is one key alone.
  private static func with(_ other: String, _ template: String) -> String {
    let nat = "cidr: 192.168.1.0/24, nat: { to: out"
    precondition(template.contains(nat), "the world has another NAT")
    return template.replacing(nat, with: nat + other)
  }

  private var mappings: [KeyCase] {
    // Long enough for the longest timer in which two kinds differ.
    let longest = slow.replacing("expect:", with: "\(KeyWorld.later.replacing("40s", with: "150s"))\nexpect:")
      .replacing("virtual: 60s", with: "virtual: 200s")
    return [
      words("map", slow, after: ", filter: endpoint-independent"), words("filter", slow), words("kind", longest),
    ]
  }

  private var ports: [KeyCase] {
    [
      words("ports", plain), words("ports_if_taken", plain, after: Self.narrow),
      words("parity", plain, after: "\(Self.narrow)\(Self.perFlow), ports: sequential"),
      values("port_range", ["[40000, 40100]", "[50000, 50100]"], plain),
      values(
        "port_reuse_delay", ["0s", "60s"], world(("", Self.again)), after: ", port_range: [40000, 40000], udp_idle: 1s"),
      words("pooling", world((", addresses: 3", "")), after: Self.perFlow),
    ]
  }

  private var hosts: [KeyCase] {
    // The pairs that need a hairpin are checked although the direct one works.
    let together = plain.replacing("b: { from: bob, to: away }", with: "b: { from: bob, to: home }")
      .replacing("profile: knotos }", with: "profile: knotos, ice: { prune: false } }")
    return [
      // A flag says what a word says, too.
      values("hairpin", ["true", "false", "internal"], together),
      values("hairpin", ["external", "none", "internal"], together),
      values("quota", ["1", "50"], plain), values("total_quota", ["1", "50"], plain),
    ]
  }

  private var udpTimers: [KeyCase] {
    let silent = world(("", Self.silence))
    return [
      values("udp_idle", ["1s", "20s"], long),
      values("udp_first", ["50ms", "20s"], silent, after: Self.perFlow),
      values("udp_unanswered", ["50ms", "20s"], silent, after: Self.perFlow),
      values("udp_answered", ["1s", "20s"], long, after: Self.perFlow),
      values(
        "udp_answered_age", ["0s", "30s"], long, after: "\(Self.perFlow), udp_unanswered: 2s, udp_answered: 20s"),
      words("refresh", world(("", Self.unheard)), after: ", udp_idle: 2s"),
    ]
  }

  private var tcpTimers: [KeyCase] {
    let far = plain.replacing(
      "b: { from: bob, to: away }", with: "b: { from: bob, to: away }\n    up: { from: home, to: out, delay: 100ms }")
    // The connection to the relay is closed when the call is over.
    let closing = long.replacing(
      "stun: { kind: stun }", with: "stun: { kind: stun }, relay: { kind: turn, transports: [tcp] }")
    return [
      values("tcp_idle", ["5s", "2h"], long), values("tcp_opening", ["20ms", "240s"], far),
      values("tcp_closing", ["1s", "240s"], closing), values("tcp_reset", ["1s", "30s"], world(("", Self.disconnect))),
      words("adopt_tcp", world(("", Self.reboot))),
    ]
  }
}
