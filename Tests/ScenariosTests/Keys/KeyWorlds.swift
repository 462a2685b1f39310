/// Small scenarios with places to put a key in: two peers who call each other for a moment.
enum KeyWorld {
  /// Something late that changes nothing, so that the run lasts.
  static let later = "  - { mark: later, at: 40s }"
  static let ends = "  - { ends: alice, code: local-hangup }"

  /// Both on one network.
  static func lan(
    line: String = "", lan: String = "", alice: String = "", bob: String = "", servers: String = "",
    timeline: String = "", expect: String = ends, rest: String = "", talk: String = "400ms",
    limits: String = "virtual: 60s"
  ) -> String {
    """
    callsim: 1
    id: t
    limits: { \(limits) }
    \(rest)
    topology:
      networks: { lan: { cidr: 10.0.0.0/24\(lan) } }
      links:
        a: { from: alice, to: lan\(line) }
        b: { from: bob, to: lan }
      servers: { hub: { kind: signalling }\(servers) }
    peers:
      alice: { profile: knotos\(alice) }
      bob: { profile: knotos\(bob) }
    \(calls(timeline, expect, talk))
    """
  }

  /// Both on one network, and in one place of a product whose server and argument have the same name.
  static func joined(
    _ profile: String, to server: String, _ place: String, alice: String, bob: String, before: String,
    timeline: String, rest: String = "", talk: String, limit: String = "60s"
  ) -> String {
    """
    callsim: 1
    id: t
    limits: { virtual: \(limit) }
    \(rest)
    topology:
      networks: { lan: { cidr: 10.0.0.0/24 } }
      links:
        a: { from: alice, to: lan }
        b: { from: bob, to: lan }
      servers: { hub: { kind: \(server) } }
    peers:
      alice: { profile: \(profile)\(alice) }
      bob: { profile: \(profile)\(bob) }
    timeline:
    \(before)
      - { id: first, at: 300ms, do: alice.connect, \(server): \(place) }
      - { id: second, at: 400ms, do: bob.connect, \(server): \(place) }
      - { id: bye, after: \(talk), of: second, do: alice.disconnect }
    \(timeline)
    expect:
      - { ends: alice, code: disconnected }
    """
  }

  /// Each behind a NAT of their own.
  static func nat(
    _ nat: String = "", home: String = "", out: String = "", links: String = "", bob: String = "away",
    away: String = "", servers: String = "", timeline: String = "", talk: String = "400ms",
    limits: String = "virtual: 60s"
  ) -> String {
    """
    callsim: 1
    id: t
    limits: { \(limits) }
    topology:
      networks:
        out: { cidr: 203.0.113.0/24\(out) }
        home: { cidr: 192.168.1.0/24, nat: { to: out\(nat) }\(home) }
        away: { cidr: 192.168.2.0/24, nat: { to: out\(away) } }
      links:
        a: { from: alice, to: home }
        b: { from: bob, to: \(bob) }
      \(links)
      servers: { hub: { kind: signalling }, stun: { kind: stun }\(servers) }
    peers:
      alice: { profile: knotos }
      bob: { profile: knotos }
    \(calls(timeline, ends, talk))
    """
  }

  /// On one network, and alice by relay only.
  static func relayed(
    _ relay: String = "", alice: String = "", bob: String = "", timeline: String = "", talk: String = "400ms",
    rest: String = ""
  ) -> String {
    lan(
      alice: ", ice: { policy: relay }\(alice)", bob: bob, servers: ", relay: { kind: turn\(relay) }",
      timeline: timeline, rest: rest, talk: talk)
  }

  /// With no topology of its own.
  static func named(_ alice: String, _ bob: String = "network: wifi", rest: String = "") -> String {
    """
    callsim: 1
    id: t
    limits: { virtual: 60s }
    \(rest)
    peers:
      alice: { profile: knotos, \(alice) }
      bob: { profile: knotos, \(bob) }
    \(calls("", ends, "400ms"))
    """
  }

  /// Nothing but a call, judged by one expectation.
  static func judged(_ expectation: String, timeline: String = "", line: String = "", rest: String = "") -> String {
    lan(line: line, timeline: timeline, expect: "  - { \(expectation) }", rest: rest, talk: "1s")
  }

  private static func calls(_ timeline: String, _ expect: String, _ talk: String) -> String {
    """
    timeline:
      - { id: call, at: 100ms, do: alice.call, to: bob }
      - { id: accept, when: bob.call.state == ringing, do: bob.accept }
      - { id: bye, after: \(talk), of: bob.connected, do: alice.hangup }
    \(timeline)
    expect:
    \(expect)
    """
  }
}
