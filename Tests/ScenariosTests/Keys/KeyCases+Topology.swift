extension KeyCases {
  static let topology: [KeyCase] =
    networks + links + nats + firewalls + servers
    + [
      KeyCase(words: "topology.turn", KeyWorld.lan().replacing("topology:", with: "topology:\n  turn: <>"))
    ]

  private static let networks: [KeyCase] = [
    KeyCase(
      "network.profile", ["home", "lte"],
      KeyWorld.nat().replacing(
        "home: { cidr: 192.168.1.0/24, nat: { to: out } }", with: "home: { profile: <>, to: out }")),
    KeyCase(words: "network.type", KeyWorld.lan(lan: ", type: <>")),
    KeyCase("network.cidr", ["10.0.0.0/24", "10.1.0.0/24", "[10.0.0.0/24, \"fd00::/64\"]"], lanPrefix),
    KeyCase(
      "network.to", with: "to: lan",
      KeyWorld.lan().replacing(lanNetwork, with: twoNetworks)
        .replacing("{ from: alice, to: lan }", with: "{ from: alice, to: side }")),
    KeyCase(words: "network.isolated", KeyWorld.lan(lan: ", isolated: <>")),
    KeyCase("network.mtu", with: "mtu: 600B", KeyWorld.lan(lan: "<>")),
  ]

  private static let lanNetwork = "lan: { cidr: 10.0.0.0/24 }"
  private static let twoNetworks = "lan: { cidr: 10.0.0.0/24 }, side: { cidr: 10.1.0.0/24<> }"
  private static let lanPrefix = KeyWorld.lan().replacing("cidr: 10.0.0.0/24", with: "cidr: <>")

  // MARK: Links

  private static let links: [KeyCase] =
    impairments("link", KeyWorld.lan(line: "<>"))
    + impairments("impairments", KeyWorld.lan(line: ", tx: { why: x<> }"))
    + impairments(
      "network link",
      KeyWorld.lan(lan: ", link: { why: x<> }", alice: ", network: lan").replacing(
        "a: { from: alice, to: lan }", with: ""))
    + [
      KeyCase(
        "link.from", ["alice", "bob"], KeyWorld.lan().replacing("links:", with: "links:\n    c: { from: <>, to: lan }")),
      KeyCase(
        "link.to", ["lan", "side"],
        KeyWorld.lan().replacing("{ from: alice, to: lan }", with: "{ from: alice, to: <> }")
          .replacing(lanNetwork, with: "lan: { cidr: 10.0.0.0/24 }, side: { cidr: 10.1.0.0/24, to: lan }")),
      KeyCase("link.profile", ["home", "lte"], KeyWorld.lan(line: ", profile: <>")),
      KeyCase("link.interface", with: "interface: wlan0", KeyWorld.lan(line: "<>")),
      KeyCase(words: "link.start", KeyWorld.lan(line: ", start: <>")),
      KeyCase("link.mtu", with: "mtu: 600B", KeyWorld.lan(line: "<>")),
      KeyCase(
        "link.tx", ["tx: { delay: 30ms }", "rx: { delay: 30ms }", "rx: { delay: 60ms }"], KeyWorld.lan(line: ", <>")),
      KeyCase(
        "network link.mtu", with: "mtu: 600B",
        KeyWorld.lan(lan: ", link: { why: x<> }", alice: ", network: lan")
          .replacing("a: { from: alice, to: lan }", with: "")),
      KeyCase(words: "jitter.dist", KeyWorld.lan(line: ", delay: 20ms, jitter: { dist: <>, amount: 5ms }")),
      KeyCase(
        "jitter.amount", ["1ms", "6ms"], KeyWorld.lan(line: ", delay: 20ms, jitter: { dist: normal, amount: <> }")),
      KeyCase(words: "jitter.order", KeyWorld.lan(line: ", delay: 40ms, jitter: { amount: 30ms, order: <> }")),
      KeyCase(
        "loss.kind",
        [
          "kind: none", "kind: random, rate: 20%", "kind: gilbert, rate: 20%, mean_burst: 60ms",
          "kind: script, packets: [7]",
        ],
        KeyWorld.lan(line: ", loss: { <> }")),
      KeyCase(
        "loss.packets", ["[3]", "[5]", "[3, 5-9]"], KeyWorld.lan(line: ", loss: { kind: script, packets: <> }")),
      KeyCase(
        "loss.every", ["", ", every: 4", ", every: 9"],
        KeyWorld.lan(line: ", loss: { kind: script, packets: [3]<> }")),
      KeyCase(
        "loss.times", ["[[100ms, 200ms]]", "[[300ms, 400ms]]"],
        KeyWorld.lan(line: ", loss: { kind: script, times: <> }")),
      KeyCase(
        "loss.period", ["", ", period: 200ms", ", period: 300ms"],
        KeyWorld.lan(line: ", loss: { kind: script, times: [[90ms, 120ms]]<> }")),
      KeyCase("loss.rate", ["5%", "40%"], KeyWorld.lan(line: ", loss: { rate: <> }")),
      KeyCase(
        "loss.mean_burst", ["20ms", "300ms"],
        KeyWorld.lan(line: ", loss: { kind: gilbert, rate: 30%, mean_burst: <> }", talk: "2s")),
      KeyCase(
        "loss.bad", ["60%", "100%"],
        KeyWorld.lan(line: ", loss: { kind: gilbert, rate: 30%, mean_burst: 100ms, bad: <> }", talk: "2s")),
      KeyCase(
        "loss.good", ["0%", "20%"],
        KeyWorld.lan(line: ", loss: { kind: gilbert, rate: 30%, mean_burst: 100ms, good: <> }", talk: "2s")),
      KeyCase(words: "queue.kind", KeyWorld.lan(line: ", rate: 40kbps, queue: { kind: <>, packets: 2 }")),
      KeyCase("queue.packets", ["2", "50"], KeyWorld.lan(line: ", rate: 40kbps, queue: { packets: <> }")),
      KeyCase("queue.bytes", ["700B", "20kB"], KeyWorld.lan(line: ", rate: 40kbps, queue: { bytes: <> }")),
      KeyCase(
        "queue.time", ["time: 20ms", "time: 300ms", "kind: drop-tail"],
        KeyWorld.lan(line: ", rate: 20kbps, queue: { <> }", talk: "2s")),
    ]

  static func impairments(_ place: String, _ template: String) -> [KeyCase] {
    [
      KeyCase("\(place).delay", [", delay: 5ms", ", delay: 80ms"], template),
      KeyCase("\(place).jitter", [", delay: 20ms", ", delay: 20ms, jitter: 5ms"], template),
      KeyCase("\(place).loss", with: "loss: 30%", template),
      KeyCase("\(place).rate", with: "rate: 200kbps", template),
      KeyCase(
        "\(place).queue",
        [", rate: 40kbps, queue: 20ms", ", rate: 40kbps, queue: 2s", ", rate: 40kbps, queue: 700B"], template),
      KeyCase("\(place).reorder", [", delay: 50ms", ", delay: 50ms, reorder: 50%"], template),
      KeyCase("\(place).duplicate", with: "duplicate: 50%", template),
      KeyCase("\(place).corrupt", with: "corrupt: 50%", template),
    ]
  }

  // MARK: Routers

  private static let nats: [KeyCase] =
    NATCases(place: "nat") { KeyWorld.nat("<>\($0.nat)", timeline: $0.timeline, talk: "1s") }.all
    + [
      KeyCase(
        "nat.to", ["out", "away"],
        KeyWorld.nat().replacing("nat: { to: out } }", with: "nat: { to: <> } }")),
      KeyCase("nat.profile", ["home", "home/symmetric"], KeyWorld.nat(", profile: <>")),
      KeyCase("nat.overload", ["true", "false"], KeyWorld.nat(", map: address-and-port, overload: <>")),
      KeyCase("nat.addresses", ["1", "3"], KeyWorld.nat(", pooling: arbitrary, addresses: <>")),
    ]

  private static let firewalls: [KeyCase] = [
    KeyCase("port blocks.size", ["4", "64"], KeyWorld.nat(", ports: random, blocks: { size: <> }")),
    KeyCase(
      "port blocks.most", ["1", "8"],
      KeyWorld.nat(", map: address-and-port, ports: random, blocks: { size: 2, most: <> }")),
    KeyCase(words: "firewall.block_udp", KeyWorld.nat(home: ", firewall: { block_udp: <> }")),
    KeyCase(words: "firewall.block_tcp", KeyWorld.nat(home: ", firewall: { block_tcp: <> }")),
    KeyCase(
      words: "firewall.inbound",
      KeyWorld.nat(
        ", filter: endpoint-independent", home: ", firewall: { inbound: <> }", away: ", map: address-and-port"
      ).replacing("a: { from: alice, to: home }", with: "a: { from: alice, to: home, delay: 100ms }")),
    KeyCase("firewall.allow_ports", with: "allow_ports: [443]", KeyWorld.nat(home: ", firewall: { why: x<> }")),
    KeyCase("firewall.block_ports", with: "block_ports: [3478]", KeyWorld.nat(home: ", firewall: { why: x<> }")),
    KeyCase("firewall.open_ports", ["[3000-4000]", "[9]"], openPorts),
    KeyCase("firewall.block_ports", with: "block_ports: [443]", KeyWorld.nat(home: ", firewall: { why: x<> }")),
  ]

  /// Servers behind a firewall that lets answers in alone.
  private static let openPorts = KeyWorld.lan(
    lan: " }, yard: { cidr: 10.1.0.0/24, to: lan, firewall: { open_ports: <> }"
  )
  .replacing("hub: { kind: signalling }", with: "hub: { kind: signalling }, stun: { kind: stun, network: yard }")

  // MARK: Servers

  private static let servers: [KeyCase] = [
    KeyCase(
      "server.kind", ["kind: stun", "kind: turn", "kind: signalling, delay: 1ms"],
      KeyWorld.lan().replacing("hub: { kind: signalling }", with: "x: { <> }")),
    KeyCase(
      "server.network", with: "network: side",
      KeyWorld.lan(servers: ", relay: { kind: turn<> }").replacing(lanNetwork, with: sideNetwork)),
    KeyCase(
      "server.net", with: "net: side",
      KeyWorld.lan(servers: ", relay: { kind: turn<> }").replacing(lanNetwork, with: sideNetwork)),
    KeyCase(
      "server.transports", ["[udp]", "[tcp]", "[tls]", "[udp, tcp]", "[udp, tcp, tls]"],
      KeyWorld.relayed(", transports: <>")),
    KeyCase("server.port", ["port: 443", "port: 3478", "port: [3478, 443]"], KeyWorld.relayed(", <>")),
    KeyCase(
      "server ports.udp", ["3478", "443", "[443, 80]"],
      KeyWorld.relayed(", transports: [udp, tcp], port: { udp: <>, tcp: 443 }")),
    KeyCase(
      "server ports.tcp", ["3478", "443", "[443, 80]"],
      KeyWorld.relayed(", transports: [udp, tcp], port: { udp: 3478, tcp: <> }")),
    KeyCase("server.port", with: "port: 19302", KeyWorld.lan(servers: ", stun: { kind: stun<> }")),
    KeyCase(
      "server.port", with: "port: 8443",
      KeyWorld.lan().replacing("hub: { kind: signalling }", with: "hub: { kind: signalling<> }")),
    KeyCase("server.tls", with: "tls: { port: 443 }", KeyWorld.relayed(", transports: [tls]<>")),
    KeyCase("tls.port", ["443", "5349"], KeyWorld.relayed(", transports: [udp, tls], tls: { port: <> }")),
    KeyCase(words: "tls.certificate", KeyWorld.relayed(", transports: [tls], tls: { certificate: <> }")),
    KeyCase(words: "tls.version", KeyWorld.relayed(", transports: [tls], tls: { version: <> }")),
    KeyCase("server.delay", with: "delay: 200ms", KeyWorld.relayed("<>")),
    KeyCase("server.delay", with: "delay: 200ms", KeyWorld.lan(servers: ", stun: { kind: stun<> }")),
    KeyCase(
      "server.delay", with: "delay: 200ms",
      KeyWorld.lan().replacing("hub: { kind: signalling }", with: "hub: { kind: signalling<> }")),
    KeyCase(
      "server.kind", ["kind: signalling, delay: 1ms", "kind: stun"],
      KeyWorld.lan(servers: ", second: { <> }")),
    KeyCase("server.lifetime", ["4s", "600s"], KeyWorld.relayed(", lifetime: <>", talk: "6s")),
    KeyCase(
      "server.nonce_lifetime", ["1s", "600s"], KeyWorld.relayed(", lifetime: 4s, nonce_lifetime: <>", talk: "6s")),
    KeyCase("server.permission_lifetime", ["2s", "300s"], KeyWorld.relayed(", permission_lifetime: <>", talk: "5s")),
    KeyCase("server.channel_lifetime", ["2s", "600s"], KeyWorld.relayed(", channel_lifetime: <>", talk: "5s")),
    KeyCase(words: "server.credentials", KeyWorld.relayed(", credentials: <>")),
    KeyCase(
      "server.credential_lifetime", ["2s", "600s"],
      KeyWorld.relayed(", lifetime: 4s, credentials: rest, credential_lifetime: <>", talk: "6s")),
    KeyCase("server.user_quota", ["1", "9"], KeyWorld.relayed(", transports: [udp, tcp], user_quota: <>")),
    KeyCase("server.total_quota", ["1", "9"], KeyWorld.relayed(", total_quota: <>")),
  ]

  private static let sideNetwork = "lan: { cidr: 10.0.0.0/24 }, side: { cidr: 10.1.0.0/24, to: lan }"
}
