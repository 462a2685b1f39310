import Testing

@testable import ScenarioFormat

/// Keys and faults of which the file alone says that they change nothing.
@Suite struct `What the file says is without effect` {
  private func codes(_ text: String) -> [String] {
    FormatTest.load(text).diagnostics.map { "\($0.code.rawValue) \($0.message)" }
  }

  private func world(
    networks: String = "", links: String = "", servers: String = "", timeline: String = "", run: String = "60s",
    alice: String = "", peers: String = ""
  ) -> String {
    """
    callsim: 1
    id: t
    run: \(run)
    topology:
      networks:
        internet: { cidr: 203.0.113.0/24 }
        site: { cidr: 192.168.77.0/24, nat: { to: internet } }
        \(networks)
      links:
        a: { from: alice, to: site }
        c: { from: carol, to: site, start: down }
        \(links)
      servers: { stun: { kind: stun }\(servers) }
    peers:
      alice: { profile: knotos\(alice) }
      bob: { profile: knotos, network: wifi }
      carol: { profile: knotos }
      \(peers)
    timeline:
      - { id: go, at: 0s, do: alice.call, to: bob }
    \(timeline)
    expect:
      - { ends: alice, code: local-hangup }
    """
  }

  private static let faults = [
    ("nat.set, network: site", "E202 nat.set says nothing to set"),
    ("nat.set, network: site, udp_idle: 300s", "E427 the NAT behaves like this already"),
    ("nat.set, network: site, ports: preserve, map: endpoint-independent", "E427 the NAT behaves like this already"),
    ("clock.jump, peer: alice, by: 0s", "E427 a jump by 0s is none"),
    ("link.set, link: a, duplicate: 0%", "E427 the link is like this already"),
    ("packet.drop, protocol: rtp, nth: [3, 5], count: 1", "E412 'nth' says which packets are dropped, and so how many"),
    (
      "device.traffic, peer: alice, direction: tx, pause: 1s",
      "E412 'pause' comes after a connection whose bytes are all there, and this one is without end"
    ),
    ("dtls.drop, nth: 1, count: 1", "E412 'nth' says which packets are dropped, and so how many"),
    ("link.flap, link: a, down: 999us, up: 1s", "E306 a link is down, and up, for 1 ms at least"),
    ("link.flap, link: a, down: 1s, up: 1ns, for: 5s", "E306 a link is down, and up, for 1 ms at least"),
    ("link.set, link: a, loss: 0%", "E427 the link is like this already"),
    ("link.set, link: a, loss: { kind: none }", "E427 the link is like this already"),
    ("link.set, link: a, loss: { kind: gilbert, rate: 0%, mean_burst: 1s }", "E427 the link is like this already"),
    ("link.set, link: a, reorder: 0%, corrupt: 0%", "E427 the link is like this already"),
    ("link.set, link: a, delay: 0s, jitter: 0s", "E427 the link is like this already"),
    ("link.set, link: bob/wifi, rate: 40Mbps", "E427 the link is like this already"),
    ("link.set, link: bob/wifi, direction: tx, queue: 150ms", "E427 the link is like this already"),
    ("link.up, link: a", "E427 the link is up from the start, and nothing takes it down"),
    ("link.down, link: c", "E427 the link is down from the start, and nothing brings it up"),
    ("link.move, link: a, network: site", "E427 the link leads to 'site' already"),
    (
      "link.flap, link: a, down: 1s, up: 10s, cycles: 3, for: 5s", "E412 'cycles' takes 23s, and 'for' ends it after 5s"
    ),
    (
      "link.flap, link: a, down: 1s, up: 10s, for: 5s",
      "W414 the link goes down once: after 1s it is up for 10s, and this lasts 5s"
    ),
    (
      "link.set, link: a, delay: 5ms, duplicate: 0%",
      "W414 'duplicate' changes nothing: the link is like this already"
    ),
    (
      "nat.set, network: site, map: address, quota: 7, refresh: outbound",
      "W414 'refresh' changes nothing: the NAT does this already"
    ),
    (
      "nat.set, network: site, pooling: arbitrary",
      "W414 'pooling' has nothing to pool: there is one address, and addresses: 4 would be four (the NAT of 'site')"
    ),
    ("link.down, link: a, for: 100s", "E423 this is over at 101s at the earliest, and the run ends at 60s"),
    ("signal.delay, by: 100s", "E423 what this delays comes at 101s at the earliest, and the run ends at 60s"),
    (
      "link.flap, link: a, down: 10s, up: 30s, cycles: 3",
      "E423 this has gone down for the last time at 91s at the earliest, and the run ends at 60s"
    ),
  ]

  @Test(arguments: faults) func `a fault is an error, and a key of one a warning`(fault: String, problem: String) {
    #expect(codes(world(timeline: "  - { at: 1s, fault: \(fault) }")) == [problem])
  }

  @Test func `a fault that begins when the run ends is an error`() {
    #expect(
      codes(world(timeline: "  - { at: 60s, fault: link.down, link: a }")) == [
        "E411 this begins when the run ends at 60s, and meets nothing"
      ])
  }

  @Test(arguments: [
    "link.set, link: a, duplicate: 0%|link.set, link: a, duplicate: 5%", "link.up, link: a|link.down, link: a",
    "link.down, link: c|link.up, link: c",
    "nat.set, network: site, udp_idle: 300s|nat.set, network: site, udp_idle: 9s",
    "link.move, link: a, network: site|link.move, link: a, network: internet",
  ])
  func `what another fault changes may be put back`(pair: String) {
    let entries = pair.split(separator: "|").map { "  - { at: 1s, fault: \($0) }" }.joined(separator: "\n")
    #expect(codes(world(timeline: entries)) == [])
  }

  @Test(arguments: [
    "1s, fault: link.set, link: a, duplicate: 0%|1s, fault: link.set, link: a, duplicate: 0%",
    "1s, fault: link.set, link: a, direction: tx, loss: 0%|0s, fault: link.set, link: a, direction: rx, loss: 5%",
    "1s, fault: link.set, link: a, loss: 0%|0s, fault: link.set, link: a, delay: 5ms",
    "1s, fault: link.set, link: a, loss: 0%|2s, fault: link.set, link: a, loss: 5%",
    "9s, fault: link.set, link: a, loss: 0%|2s, fault: link.set, link: a, loss: 5%, for: 6s",
    "1s, fault: nat.set, network: site, udp_idle: 300s|0s, fault: nat.set, network: site, refresh: both",
    "1s, fault: link.move, link: a, network: site|2s, fault: link.move, link: a, network: internet",
    "1s, fault: link.up, link: a|2s, fault: link.down, link: a",
  ])
  func `what no other fault changes beneath it is without effect`(pair: String) {
    let entries = pair.split(separator: "|").map { "  - { at: \($0) }" }.joined(separator: "\n")
    let found = codes(world(timeline: entries))
    #expect(found.first?.hasPrefix("E427") == true && found.allSatisfy { $0.hasPrefix("E427") }, "\(found)")
  }

  @Test func `a script that the link has already begins again under a fault`() {
    let script = "loss: { kind: script, packets: [3] }"
    let text = world(timeline: "  - { at: 1s, fault: link.set, link: a, \(script) }")
    let link = "a: { from: alice, to: site"
    #expect(codes(text.replacing(link, with: "\(link), \(script)")) == [])
  }

  @Test func `only the cells without effect are there to compare with, whatever else acts on the thing`() throws {
    let text = world(
      timeline: """
          - { id: f, at: 1s, fault: link.set, link: a, loss: "${x}", for: 3s }
          - { id: g, at: 8s, fault: link.set, link: a, loss: "${x}", for: 3s }
          - { id: h, at: 0s, fault: link.set, link: a, delay: 5ms }
        """
    ).replacing("id: t\n", with: "id: t\nmatrix: { x: [0%, 50%] }\n")
    let file = try #require(FormatTest.load(text).scenario)
    #expect(file.cells.map { $0.scenario.timeline.filter(\.isControl).map(\.id) } == [["f", "g"], []])
  }

  /// A fault that a variable makes inert is no cell to compare with, unless another cell of the matrix changes something.
  @Test func `a fault that an override makes inert is an error where no cell differs`() {
    let entry = "  - { at: 1s, fault: link.set, link: a, loss: \"${x}\" }"
    func codes(_ header: String, _ overrides: [(String, String)]) -> [DiagnosticCode] {
      let second = header.contains("y:") ? "\n  - { at: 2s, fault: link.set, link: a, delay: \"${y}\" }" : ""
      let text = world(timeline: entry + second).replacing("id: t\n", with: "id: t\n\(header)\n")
      return ScenarioFile.load(
        text: text, registry: FormatTest.registry, overrides: overrides.map { (name: $0.0, value: $0.1) }
      ).diagnostics.map(\.code)
    }
    #expect(codes("vars: { x: 20% }", []) == [])
    #expect(codes("vars: { x: 20% }", [("x", "0%")]) == [.changesNothing])
    #expect(codes("vars: { x: 0% }", [("x", "20%")]) == [])
    #expect(codes("matrix: { x: [0%, 20%] }", [("x", "0%")]) == [])
    #expect(codes("matrix: { x: [0%, 0ppm] }", [("x", "0%")]) == [.changesNothing])
    let both = "matrix: { y: [0s, 2ms] }\nvars: { x: 20% }"
    #expect(codes(both, [("y", "0s")]) == [])
    #expect(codes(both, [("y", "0s"), ("x", "0%")]) == [.changesNothing])
  }

  private static let nats: [(nat: String, problem: String?)] = [
    ("ports: random, ports_if_taken: sequential", "W414 'ports_if_taken' is for ports: preserve, and these are random"),
    ("ports_if_taken: sequential", nil),
    (
      "ports_if_taken: sequential, port_range: [4000, 4000]",
      "W414 'ports_if_taken' has nothing to choose from: there is one port"
    ),
    ("kind: home, profile: lte", "E412 'kind' and 'profile' both give the keys left out here"),
    ("kind: home, map: address", nil),
    ("quota: 9, total_quota: 5", "W414 no host reaches 'quota', which is 9: 'total_quota' allows 5 mappings of all"),
    ("quota: 5, total_quota: 9", nil),
    (
      "quota: 300, port_range: [5000, 5099]",
      "W414 no host reaches 'quota', which is 300: its ports are enough for 200 mappings"
    ),
    ("quota: 300, port_range: [5000, 5099], addresses: 3, pooling: arbitrary", nil),
    (
      "quota: 300, blocks: { size: 64 }",
      "W414 no host reaches 'quota', which is 300: its ports are enough for 128 mappings"
    ),
    (
      "total_quota: 500, port_range: [5000, 5099]",
      "W414 'total_quota' is never reached: the ports are enough for 200 mappings"
    ),
    ("total_quota: 500, port_range: [5000, 5099], addresses: 3", nil),
    ("blocks: { size: 64, most: 2000 }", "W414 'most' is 2000 blocks of a host, and an address has 1023 of 64 ports"),
    ("blocks: { size: 64, most: 20 }", nil),
    ("pooling: arbitrary", "W414 'pooling' has nothing to pool: there is one address, and addresses: 4 would be four"),
    ("pooling: arbitrary, addresses: 2", nil),
    (
      "map: address-and-port, overload: true, port_reuse_delay: 9s",
      "W414 'port_reuse_delay' delays nothing: an overloaded port is used again at once"
    ),
    (
      "udp_idle: 9s, udp_first: 1s, udp_unanswered: 2s, udp_answered: 3s",
      "W414 'udp_idle' is for what udp_first, udp_unanswered and udp_answered leave out, and all are there"
    ),
    (
      "udp_answered_age: 2s",
      "W414 'udp_answered_age' decides between udp_unanswered and udp_answered, which are the same"
    ),
    ("udp_answered_age: 2s, udp_unanswered: 2s", nil),
  ]

  @Test(arguments: nats) func `a key of a NAT that lacks what it works on is told`(nat: String, problem: String?) {
    let text = world().replacing("nat: { to: internet }", with: "nat: { to: internet, \(nat) }")
    let suffix = problem.map { $0.hasPrefix("E") ? "" : " (the NAT of 'site')" } ?? ""
    #expect(codes(text) == (problem.map { [$0 + suffix] } ?? []))
  }

  private static let places: [(place: String, text: String, problem: String?)] = [
    (
      "networks", "x: { cidr: 10.9.0.0/24, firewall: { block_udp: true } }",
      "W414 'firewall' filters nothing: no router leads out of 'x'"
    ),
    ("networks", "x: { cidr: 10.9.0.0/24, to: internet, firewall: { block_udp: true } }", nil),
    (
      "networks",
      "x: { cidr: 10.9.0.0/24, to: internet, firewall: { block_udp: true, block_tcp: true, allow_ports: [1] } }",
      "W414 'block_udp' and 'block_tcp' block every port of 'x', whatever its other rules say"
    ),
    (
      "networks", "x: { cidr: 10.9.0.0/24, to: internet, firewall: { allow_ports: [1], block_ports: [2] } }",
      "W414 'block_ports' of 'x' blocks nothing that 'allow_ports' lets out"
    ),
    (
      "networks", "x: { cidr: 10.9.0.0/24, to: internet, firewall: { inbound: everything, open_ports: [1] } }",
      "W414 'open_ports' of 'x' opens nothing: everything comes in"
    ),
    (
      "networks", "x: { cidr: 10.9.0.0/24, nat: { to: internet }, firewall: { open_ports: [1-9] } }",
      "W414 'open_ports' of 'x' opens nothing: IPv4 comes in by the mappings of its NAT alone"
    ),
    (
      "networks", "x: { cidr: \"fd00:9::/64\", nat: { to: internet } }",
      "W414 'nat' translates IPv4, and 'x' has none: IPv6 is routed\n"
        + "W416 'x' has no IPv4, so that dora never reaches 'signalling', whose address is IPv4"
    ),
    (
      "networks", "x: { cidr: 10.9.0.0/24, to: internet, isolated: true }",
      "W414 'isolated' keeps nobody apart: 'x' has one host at most"
    ),
    (
      "links", "x: { from: dora, to: site, delay: 1ms, tx: { delay: 2ms }, rx: { delay: 3ms } }",
      "W414 'delay' of the link 'x' holds for neither direction: 'tx' and 'rx' both have their own"
    ),
    ("links", "x: { from: dora, to: site, delay: 1ms, tx: { delay: 2ms } }", nil),
    (
      "links", "x: { from: dora, to: site, delay: 1ms, reorder: 100% }",
      "W414 'reorder' of 100% lets every packet of the link 'x' skip its delay, so none overtakes another"
    ),
    (
      "servers", ", x: { kind: turn, user_quota: 9, total_quota: 5 }",
      "W414 no user reaches 'user_quota', which is 9: 'total_quota' allows 5 allocations in all"
    ),
    ("servers", ", x: { kind: turn, user_quota: 5, total_quota: 9 }", nil),
  ]

  @Test(arguments: places)
  func `a key that lacks what it works on is told`(place: String, text: String, problem: String?) {
    let dora =
      "dora: { profile: knotos\(place == "networks" ? ", network: x" : place == "links" ? "" : ", network: wifi") }"
    let scenario = world(
      networks: place == "networks" ? text : "", links: place == "links" ? text : "",
      servers: place == "servers" ? text : "", alice: place == "alice" ? text : "", peers: dora)
    #expect(codes(scenario) == (problem?.split(separator: "\n").map(String.init) ?? []))
  }

  private func twoPeers(_ alice: String, _ bob: String, _ entry: String, topology: String = "") -> String {
    FormatTest.text(
      ScenarioFile.load(
        text: """
          callsim: 1
          id: t
          \(topology)
          peers: { alice: { \(alice) }, bob: { \(bob) } }
          timeline: [{ at: 1s, \(entry) }]
          """, path: "t.yaml", registry: FormatTest.registry))
  }

  @Test(arguments: [("do: alice.mute", true), ("fault: link.move, link: bob/home, network: x", false)])
  func `who may move to a network is kept apart there`(entry: String, isTold: Bool) {
    let topology = "topology: { networks: { x: { cidr: 10.9.0.0/24, nat: {}, isolated: true } } }"
    let text = twoPeers("network: x", "network: home", entry, topology: topology)
    #expect(text.contains("'isolated' keeps nobody apart") == isTold, "\(text)")
  }

  @Test(arguments: [("do: alice.mute", true), ("fault: nat.set, network: x, udp_answered: 60s", false)])
  func `a key of a NAT may have an effect once the timeline sets the NAT`(entry: String, isTold: Bool) {
    let nat = "nat: { udp_unanswered: 30s, udp_answered: 30s, udp_answered_age: 5s }"
    let text = twoPeers(
      "network: x", "network: home", entry, topology: "topology: { networks: { x: { cidr: 10.9.0.0/24, \(nat) } } }")
    #expect(text.contains("'udp_answered_age' decides between") == isTold, "\(text)")
  }

  @Test(arguments: [("do: alice.mute", true), ("fault: link.move, link: bob/home, network: x", false)])
  func `who moves behind a firewall reaches the servers there`(entry: String, isTold: Bool) {
    let text = twoPeers(
      "network: wifi", "network: home", entry,
      topology: """
        topology:
          networks:
            internet: { cidr: 203.0.113.0/24 }
            x: { cidr: 198.51.100.0/24, to: internet, firewall: {} }
          servers: { relay: { kind: turn, network: x } }
        """)
    #expect(text.contains("nobody reaches 'relay'") == isTold, "\(text)")
  }

  private static let losses: [(loss: String, problem: String?)] = [
    ("{ kind: script, packets: [3, 20-25] }", nil), ("{ kind: script, packets: [3, 20-25], every: 25 }", nil),
    ("{ kind: script, times: [[200ms, 350ms]], period: 5s }", nil),
    ("{ kind: script }", "E202 loss of kind script needs the key 'packets' or 'times'"),
    ("{ kind: script, packets: [1], times: [[0s, 1s]] }", "E412 a script lists packets or times, not both"),
    (
      "{ kind: script, packets: [1], rate: 5% }",
      "E412 a script has no rate, mean_burst, bad and good: it says what is lost"
    ),
    ("{ kind: script, packets: [1], period: 5s }", "E412 'period' is for times"),
    ("{ kind: script, times: [[0s, 1s]], every: 5 }", "E412 'every' is for packets"),
    ("{ kind: script, packets: [20-25, 3] }", "E306 the parts of a script are in order and apart"),
    ("{ kind: script, packets: [3-9], every: 5 }", "E306 a script does not repeat before its end"),
    ("{ kind: script, packets: [0] }", "E306 0 is not within 1 to 1000000000"),
    ("{ kind: script, packets: [9-3] }", "E306 a range lies within 1 to 1000000000, the lower number first"),
    ("{ kind: script, times: [[1s, 1s]] }", "E306 a span ends after it begins"),
    ("{ kind: script, times: [[0s, 100ms], [100ms, 200ms]] }", nil),
    ("{ kind: script, times: [[0s, 100ms], [99ms, 200ms]] }", "E306 the parts of a script are in order and apart"),
    ("{ kind: script, packets: [3-5, 5-9] }", "E306 the parts of a script are in order and apart"),
    ("{ kind: script, times: [[0s, 2s]], period: 1s }", "E306 a script does not repeat before its end"),
    ("{ rate: 5%, packets: [1] }", "E412 packets, every, times and period belong to kind: script"),
  ]

  @Test(arguments: losses) func `a script of losses says what it lacks`(loss: String, problem: String?) {
    #expect(codes(world().replacing("to: site }", with: "to: site, loss: \(loss) }")) == (problem.map { [$0] } ?? []))
  }

  @Test func `the part of a script that does not fit is the one that is pointed at`() throws {
    let text = world().replacing("to: site }", with: "to: site, loss: { kind: script, packets: [1, 7-9, 8] } }")
    let problem = try #require(FormatTest.load(text).diagnostics.first)
    #expect(problem.hint == "write them in order, each after the end of the one before")
    let line = text.split(separator: "\n", omittingEmptySubsequences: false)[problem.span.line - 1]
    #expect(line.dropFirst(problem.span.column - 1).hasPrefix("8]"))
    let short = world().replacing(
      "to: site }", with: "to: site, loss: { kind: script, times: [[0s, 1s], [2s, 3s]], period: 2s } }")
    let other = try #require(FormatTest.load(short).diagnostics.first)
    #expect(other.hint == "write a longer period")
    let otherLine = short.split(separator: "\n", omittingEmptySubsequences: false)[other.span.line - 1]
    #expect(otherLine.dropFirst(other.span.column - 1).hasPrefix("[2s, 3s]"))
  }

  private static let yards: [(firewall: String, isClosed: Bool)] = [
    ("", false), (", firewall: { block_tcp: true }", true), (", firewall: { open_ports: [3479] }", true),
    (", firewall: { open_ports: [3000-4000] }", false), (", firewall: { inbound: everything }", false),
  ]

  @Test(arguments: yards)
  func `a server that a firewall keeps from everybody is told`(firewall: String, isClosed: Bool) {
    func told(alice: String) -> [String] {
      codes(
        """
        callsim: 1
        id: t
        topology:
          networks:
            internet: { cidr: 203.0.113.0/24 }
            yard: { cidr: 203.0.114.0/24, to: internet\(firewall) }
            shed: { cidr: 203.0.115.0/24, to: yard }
          servers: { relay: { kind: turn, network: shed } }
        peers:
          alice: { profile: knotos, network: \(alice) }
          bob: { profile: knotos, network: home }
        timeline: [{ id: go, at: 0s, do: alice.call, to: bob }]
        expect: [{ ends: alice, code: local-hangup }]
        """)
    }
    let problem = "W414 nobody reaches 'relay': the firewall of 'yard' lets in none of its ports"
    #expect(told(alice: "home").contains(problem) == isClosed)
    #expect(!told(alice: "shed").contains(problem))
  }

  private static let ports: [(server: String, problem: String?)] = [
    ("{ kind: turn, port: [3478, 443] }", nil),
    ("{ kind: turn, transports: [udp, tcp], port: { udp: 3478, tcp: [443, 80] } }", nil),
    ("{ kind: turn, port: { udp: 3478, tcp: 443 } }", "E418 the server is not reached by tcp"),
    ("{ kind: turn, transports: [udp, tcp], port: { tcp: 443 } }", "E202 the server has no port for udp"),
    ("{ kind: turn, port: [443, 443] }", "E107 '443' is listed twice"),
    ("{ kind: stun, port: { udp: [3478, 3478] } }", "E107 '3478' is listed twice"),
    ("{ kind: turn, transports: [udp, tcp], port: { udp: 3478, tcp: [443, 443] } }", "E107 '443' is listed twice"),
    ("{ kind: turn, transports: [udp, udp] }", "E107 'udp' is listed twice"),
    ("{ kind: turn, transports: [tls, tls] }", "E107 'tls' is listed twice"),
    ("{ kind: turn, transports: [udp, tls], port: 5349 }", nil),
    ("{ kind: turn, transports: [tcp, tls], port: 5349 }", "E418 TCP listens at port 5349 already, where TLS would"),
    (
      "{ kind: turn, transports: [tls, tcp], port: { tcp: [443, 5349] } }",
      "E418 TCP listens at port 5349 already, where TLS would"
    ),
    (
      "{ kind: turn, transports: [tcp, tls], tls: { port: 3478 } }",
      "E418 TCP listens at port 3478 already, where TLS would"
    ),
    ("{ kind: turn, port: {} }", "E202 no transport is named"),
    ("{ kind: turn, port: 0 }", "E306 0 is not within 1 to 65535"),
    ("{ kind: signalling, port: [443, 80] }", "E412 a signalling server has one port, and clients go there"),
    ("{ kind: stun, port: { tcp: 3478 } }", "E418 the server is not reached by tcp"),
  ]

  @Test(arguments: ports) func `ports of a server say what they lack`(server: String, problem: String?) {
    #expect(codes(world(servers: ", x: \(server)")) == (problem.map { [$0] } ?? []))
  }

  @Test func `a kind is set on a NAT that gives out blocks, and they stay`() {
    let text = world(timeline: "  - { at: 1s, fault: nat.set, network: site, kind: symmetric }")
    #expect(codes(text.replacing("nat: { to: internet }", with: "nat: { to: internet, blocks: { size: 64 } }")) == [])
    let base = Topology.NAT()
    var blocky = base
    blocky.blocks = Topology.PortBlocks(size: 64, most: 2)
    blocky.portRange = 1_024...9_999
    var draft = NATDraft()
    draft.kind = Located(.carrierSymmetric)
    let changed = draft.changing(blocky)
    #expect(changed.blocks == blocky.blocks && changed.portRange == blocky.portRange)
    #expect(changed.map == .addressAndPort && changed.problem == nil && changed.problem(after: blocky) == nil)
  }

  @Test func `a kind that overloads ports is refused with what to write instead`() {
    let text = world(timeline: "  - { at: 1s, fault: nat.set, network: site, kind: linux }")
    let problem = FormatTest.load(text).diagnostics.first
    #expect(problem?.message == "port overloading cannot change under mappings")
    #expect(problem?.hint == "name what changes, such as map and filter, instead of kind")
  }

  @Test(arguments: ["complexity: 5", "packet_loss_hint: 10%"])
  func `what only an encoder reads is told where media are synthetic`(key: String) {
    func told(_ rest: String) -> [String] {
      codes(world(alice: ", audio: { \(key) }").replacing("run: 60s", with: "run: 60s\n\(rest)"))
    }
    let name = key.prefix { $0 != ":" }
    let warning = "W414 '\(name)' changes nothing: synthetic media have no encoder; write media: real"
    #expect(told("") == [warning] && told("media: synthetic") == [warning])
    #expect(told("media: real") == [])
    #expect(told("media: \"${media}\"\nmatrix: { media: [synthetic, real] }") == [])
  }

  @Test func `turn: true is told only where a TURN server of that name is there`() {
    for (server, warnings) in [("relay", 0), ("turn", 1)] {
      let loaded = FormatTest.load(
        world(servers: ", \(server): { kind: turn, transports: [tcp] }").replacing(
          "topology:", with: "topology:\n  turn: true"))
      #expect(loaded.diagnostics.map(\.code) == Array(repeating: .ineffective, count: warnings))
      let servers = loaded.scenario?.cells[0].scenario.topology.servers.filter { $0.kind == .turn }
      #expect(servers?.map(\.name) == (warnings == 0 ? ["relay", "turn"] : ["turn"]))
      #expect(servers?.last?.transports == (warnings == 0 ? [.udp] : [.tcp]))
    }
  }
}
