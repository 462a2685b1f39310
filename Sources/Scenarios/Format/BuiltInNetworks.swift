import CallCore

/// The catalogue of named networks: each name stands for a network, its NAT and its link. Files of `use` add to it.
public enum BuiltInNetworks {
  /// The catalogue in the format of `use` files.
  public static let text = """
    callsim: 1
    title: networks everybody has met
    networks:
      internet:
        title: a public address without a NAT
        link: { delay: 5ms }
      home:
        title: cable behind a home router that keeps ports
        cidr: 192.168.1.0/24
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 120s }
        link: { delay: 8ms, rate: 50Mbps, queue: 100ms }
      wifi:
        title: good Wi-Fi behind a home router
        type: wifi
        cidr: 192.168.1.0/24
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 120s }
        link: { delay: 10ms, jitter: 2ms, loss: 0.1%, rate: 40Mbps, queue: 150ms }
      wifi/good:
        title: strong Wi-Fi with nobody else on it
        type: wifi
        cidr: 192.168.1.0/24
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 120s }
        link: { delay: 8ms, jitter: 1ms, rate: 100Mbps, queue: 100ms }
      wifi/congested:
        title: Wi-Fi in a full house, losses in bursts and a deep queue
        type: wifi
        cidr: 192.168.1.0/24
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 120s }
        link:
          delay: 15ms
          jitter: { dist: exponential, amount: 15ms }
          loss: { kind: gilbert, rate: 3%, mean_burst: 60ms, bad: 60% }
          rate: 5Mbps
          queue: 500ms
      home/full-cone:
        title: a home router that lets anybody in through an open mapping
        cidr: 192.168.1.0/24
        nat: { map: endpoint-independent, filter: endpoint-independent, udp_idle: 300s }
        link: { delay: 8ms, rate: 50Mbps, queue: 100ms }
      home/symmetric:
        title: a home router with a new random port for every destination
        cidr: 192.168.1.0/24
        nat: { map: address-and-port, filter: address-and-port, ports: random, udp_idle: 60s }
        link: { delay: 8ms, rate: 50Mbps, queue: 100ms }
      office:
        title: wired office behind a NAT that lets in answers only
        cidr: 10.1.0.0/16
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 60s }
        link: { delay: 4ms, rate: 100Mbps, queue: 50ms }
      office/udp-blocked:
        title: an office that lets only TCP 80, 443 and 3478 out
        cidr: 10.1.0.0/16
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 60s }
        firewall: { block_udp: true, allow_ports: [80, 443, 3478] }
        link: { delay: 4ms, rate: 100Mbps, queue: 50ms }
      lte:
        title: LTE behind a carrier NAT
        type: cellular
        cidr: 100.64.0.0/16
        nat: { map: endpoint-independent, filter: address-and-port, ports: random, udp_idle: 65s, quota: 1008 }
        link:
          jitter: { dist: normal, amount: 5ms }
          loss: 0.2%
          queue: 300ms
          tx: { delay: 30ms, rate: 10Mbps }
          rx: { delay: 25ms, rate: 30Mbps }
      lte/cell-edge:
        title: LTE at the edge of a cell
        type: cellular
        cidr: 100.64.0.0/16
        nat: { map: endpoint-independent, filter: address-and-port, ports: random, udp_idle: 65s, quota: 1008 }
        link:
          jitter: { dist: exponential, amount: 20ms }
          loss: { kind: gilbert, rate: 4%, mean_burst: 120ms, bad: 70% }
          queue: 1s
          tx: { delay: 60ms, rate: 400kbps }
          rx: { delay: 50ms, rate: 1.5Mbps }
      carrier/symmetric:
        title: LTE behind a carrier NAT with a port for every destination
        type: cellular
        cidr: 100.64.0.0/16
        nat: { map: address-and-port, filter: address-and-port, ports: random, udp_idle: 65s, quota: 1008 }
        link:
          jitter: { dist: normal, amount: 5ms }
          loss: 0.2%
          queue: 300ms
          tx: { delay: 30ms, rate: 10Mbps }
          rx: { delay: 25ms, rate: 30Mbps }
      satellite:
        title: a geostationary link behind a home router
        cidr: 192.168.1.0/24
        nat: { map: endpoint-independent, filter: address-and-port, udp_idle: 120s }
        link: { delay: 280ms, jitter: 8ms, loss: 0.5%, queue: 500ms, tx: { rate: 3Mbps }, rx: { rate: 25Mbps } }
    """

  /// Returns the declaration of a network, without its name.
  static func text(of name: String) -> String { text(of: name, in: text.split(separator: "\n").map(String.init)) ?? "" }

  /// Returns the declaration of a network in the lines of a `use` file, without its name; nil when the file has none.
  public static func text(of name: String, in lines: [String]) -> String? {
    guard let start = lines.firstIndex(where: { $0.drop { $0 == " " }.hasPrefix("\(name):") }) else { return nil }
    let depth = lines[start].prefix { $0 == " " }.count
    let own = lines[start].drop { $0 == " " }.dropFirst(name.count + 1).drop { $0 == " " }
    let below = lines[(start + 1)...].prefix { line in
      line.prefix { $0 == " " }.count > depth && !line.allSatisfy { $0 == " " }
    }
    let rest = below.map { String($0.dropFirst(depth + 2)) }
    return ((own.isEmpty ? [] : [String(own)]) + rest).joined(separator: "\n")
  }

  /// The names with their titles, for `callsim explain networks`.
  public static var summaries: [(name: String, summary: String)] { all.map { ($0.name, $0.value.summary ?? "") } }

  static let all: [Named<NetworkDraft>] = {
    var sources = SourceMap()
    var reading = Reading(registry: ProfileRegistry(checked: []))
    let root = YAMLReader.read(
      Array(text.utf8), path: "built-in networks", usedFrom: nil, into: &sources, diagnostics: &reading.diagnostics)
    let file = root.flatMap { ProfileFileDraft.type.decode($0, &reading) }
    precondition(
      reading.diagnostics.isEmpty,
      DiagnosticReport(reading.diagnostics, sources: sources).rendered(as: .text(color: false)))
    return (file?.networks ?? []).map { Named(name: $0.name, span: .builtIn, value: $0.value) }
  }()
}
