import CallCore
import Vocabulary

/// A server in a file, before profiles and defaults are filled in.
struct ServerDraft: Sendable, Equatable {
  var server = Topology.Server()
  var network: Located<String>?

  private static let serverType = MappingType(
    "server settings", "", Topology.Server(),
    [
      .key(
        "kind", .serverFormat, \.kind, required: true,
        "what it serves: stun, turn, or what the vocabulary of a profile declares, such as signalling"),
      .key(
        "profile", ValueFormat<String>.text.located, \.profile,
        "whose server it is; the only profile of the peers that declares such a server without it"),
      .key(
        "transports", ValueFormat<Topology.Server.Transport>.choice.list(atLeast: 1).distinct(\.rawValue), \.transports,
        default: "[udp], and [tcp] for a server of a profile",
        "how clients reach it; a server of a profile has one, tcp (ws, http) or tls (wss, https)"),
      .key(
        "port", Topology.Server.Port.format, \.ports, default: "3478, and 443 for a server of a profile",
        "where it listens: a port, several, or those of each transport, { udp: 3478, tcp: [443, 80] }"),
      .key("delay", .duration(), \.delay, default: "0s", "time it takes for every answer"),
      .key("tls", Topology.Server.TLS.type.format, \.tls, "TURN, or a server of a profile: how it serves TLS"),
    ])

  /// The keys that only TURN servers have.
  private static let turnType = MappingType(
    "TURN server settings", "", Topology.Server(),
    [
      .key(
        "lifetime", .duration(.positive), \.lifetime, default: "600s",
        "TURN: how long an allocation lives whose client asks for no longer; who does gets up to 3600s, or this if it is more"
      ),
      .key("nonce_lifetime", .duration(.positive), \.nonceLifetime, default: "3600s", "TURN: a nonce becomes stale"),
      .key(
        "permission_lifetime", .duration(.positive), \.permissionLifetime, default: "300s", "TURN: a permission expires"
      ),
      .key("channel_lifetime", .duration(.positive), \.channelLifetime, default: "600s", "TURN: a channel expires"),
      .key("credentials", .choice, \.credentials, default: "static", "TURN: how users authenticate"),
      .key(
        "credential_lifetime", .duration(.positive), \.credentialLifetime, default: "24h",
        "TURN: how long REST credentials are good for a new allocation; one that stands goes on with them until its nonce is "
          + "stale (nonce_lifetime)"),
      .key("user_quota", .count(1...1_000_000), \.allocationsPerUser, "TURN: most allocations of a user (486)"),
      .key("total_quota", .count(1...1_000_000), \.totalAllocations, "TURN: most allocations at all (486)"),
    ])

  static let type = MappingType(
    "server", "a STUN or TURN host, or a server of a profile", ServerDraft(),
    [
      .key(
        "network", ValueFormat<Located<String>>.name, \.network, alias: "net", default: "the internet",
        "where it stands"),
      .key("why", .text, \.server.why, "the reason, echoed in failures"),
    ] + serverType.keys(of: \ServerDraft.server) + turnType.keys(of: \ServerDraft.server))

  /// The kind of ``type`` that also refuses keys without a meaning for the kind of server.
  static let format = type.partialFormat.decoded { node, reading in
    let draft = type.partialFormat.decode(node, &reading)
    guard let draft, node["kind"] != nil else { return draft }
    let server = draft.server
    let ofTURN = turnType.keyNames.filter { !serverType.keyNames.contains($0) }
    checkPorts(of: server, node, &reading)
    checkListeners(of: server, node, &reading)
    for entry in node.entries ?? [] {
      if entry.key == "profile", !server.kind.isDeclared {
        let message = "a \(server.kind.word) server belongs to no profile"
        reading.report(.conflictingKeys, message, at: entry.keySpan, hint: "leave profile out")
      } else if server.kind != .turn, ofTURN.contains(entry.key) {
        let message = "'\(entry.key)' is for TURN servers, and this is a \(server.kind.word) server"
        reading.report(.conflictingKeys, message, at: entry.keySpan)
      } else if entry.key == "credential_lifetime", server.credentials != .rest {
        let message = "'credential_lifetime' is how long REST credentials are good"
        reading.report(.conflictingKeys, message, at: entry.keySpan, hint: "add credentials: rest")
      } else if entry.key == "transports", server.kind.isDeclared, ![[.tcp], [.tls]].contains(server.transports) {
        let message = "clients reach a \(server.kind.word) server by TCP or by TLS"
        reading.report(.wrongTransport, message, at: entry.value.span, hint: "write transports: [tls], or leave it out")
      } else if entry.key == "transports", server.kind == .stun, server.transports != [.udp] {
        let message = "clients reach a stun server by UDP only"
        reading.report(.wrongTransport, message, at: entry.value.span, hint: "leave transports out")
      } else if entry.key == "tls", server.kind == .stun {
        let message = "'tls' is for TURN servers and servers of profiles, and this is a stun server"
        reading.report(.conflictingKeys, message, at: entry.keySpan)
      } else if entry.key == "tls", server.kind.isDeclared, let port = entry.value["port"] {
        let message = "a \(server.kind.word) server has one port, and clients go there"
        reading.report(.conflictingKeys, message, at: port.span, hint: "write it as port of the server")
      } else if let (message, hint) = server.transportProblem(with: entry.key) {
        reading.report(.wrongTransport, message, at: entry.keySpan, hint: hint)
      }
    }
    return draft
  }
}

extension Topology.Server {
  /// Returns the problem of a listener key, with advice; nil when it is valid.
  fileprivate func transportProblem(with key: String) -> (message: String, hint: String)? {
    let servesTLS = transports.contains(.tls)
    if key == "tls", !servesTLS {
      let example = kind.isDeclared ? "[tls]" : "[udp, tcp, tls]"
      return ("no client can use TLS: transports do not name it", "for example transports: \(example)")
    }
    guard kind == .turn else { return nil }
    if key == "port", transports == [.tls] {
      return ("no client can use UDP or TCP, for which port is", "write tls: { port: \(ports.first?.number ?? 443) }")
    }
    return nil
  }
}

extension Topology.Server.TLS {
  static let type = MappingType(
    "tls", "how a server serves TLS: TURN (RFC 8656 section 3.1), or wss and https", Topology.Server.TLS(),
    [
      .key("port", .port, \.port, default: "5349", "TURN: where it listens"),
      .key(
        "certificate", .choice, \.certificate, default: "valid",
        "what it shows: peers refuse any but a valid one, which is for SERVER.test and the server's addresses"),
      .key("version", .choice, \.version, "the only version it speaks; both without it"),
    ])
}

extension ServerDraft {
  /// Reports TLS and TCP on the same port: TLS runs over TCP, so they cannot share one.
  private static func checkListeners(of server: Topology.Server, _ node: YAMLNode, _ reading: inout Reading) {
    let taken = server.listeners.filter { $0.transport == .tcp }.map { Int($0.port) }
    guard server.kind == .turn, server.transports.contains(.tls), taken.contains(server.tls.port) else { return }
    let free = [5_349, 443, 5_350, 8_443].first { !taken.contains($0) } ?? 5_349
    let place = node["tls"]?["port"] ?? node["port"] ?? node["transports"] ?? node
    reading.report(
      .wrongTransport, "TCP listens at port \(server.tls.port) already, where TLS would", at: place.span,
      hint: "write another port for TLS, such as tls: { port: \(free) }")
  }

  /// Checks that ports by transport match the transports of the server.
  private static func checkPorts(of server: Topology.Server, _ node: YAMLNode, _ reading: inout Reading) {
    guard let span = node["port"]?.span, !server.ports.isEmpty else { return }
    if server.kind.isDeclared, server.ports.count > 1 || server.ports[0].transport != nil {
      reading.report(.conflictingKeys, "a \(server.kind.word) server has one port, and clients go there", at: span)
    }
    guard server.ports[0].transport != nil, !server.kind.isDeclared else { return }
    // TLS has its own port key.
    let known = server.kind.onlyTransport.map { [$0] } ?? server.transports.filter { $0 != .tls }
    for port in server.ports {
      guard let transport = port.transport, !known.contains(transport) else { continue }
      let hint = server.kind == .turn ? "add transports: [udp, tcp]" : nil
      reading.report(
        .wrongTransport, "the server is not reached by \(transport.rawValue)", at: span, hint: hint)
      return
    }
    for transport in known where !server.ports.contains(where: { $0.transport == transport }) {
      let hint = "add \(transport.rawValue): 3478"
      reading.report(.missingKey, "the server has no port for \(transport.rawValue)", at: span, hint: hint)
    }
  }
}

extension Topology.Server.Port {
  /// Reads a port, several ports, or a mapping from transports to ports.
  static let format: ValueFormat<[Topology.Server.Port]> = {
    let several = numbers
    let mapping = byTransport.format.map { draft, span, reading -> [Topology.Server.Port]? in
      let ports = draft.udp.map { ($0, Topology.Server.Transport.udp) } + draft.tcp.map { ($0, .tcp) }
      guard !ports.isEmpty else {
        reading.report(.missingKey, "no transport is named", at: span, hint: "for example port: { udp: 3478 }")
        return nil
      }
      return ports.map { Topology.Server.Port(number: UInt16($0.0), transport: $0.1) }
    } back: { ports in
      func numbers(_ transport: Topology.Server.Transport) -> [Int] {
        ports.filter { $0.transport == transport }.map { Int($0.number) }
      }
      return ByTransport(udp: numbers(.udp), tcp: numbers(.tcp))
    }
    return ValueFormat(.either([several.shape, mapping.shape])) { node, reading in
      guard node.entries == nil else { return mapping.decode(node, &reading) }
      return several.decode(node, &reading).map { numbers in
        numbers.map { Topology.Server.Port(number: UInt16($0), transport: nil) }
      }
    } encode: { ports in
      ports.first?.transport == nil ? several.encode(ports.map { Int($0.number) }) : mapping.encode(ports)
    }
  }()

  /// The limit of ports: every peer sends requests to every port, from each of its addresses.
  private static let most = 16

  private static let numbers = ValueFormat<Int>.port.oneOrMany(atMost: most).distinct { "\($0)" }

  private struct ByTransport: Sendable {
    var udp: [Int] = []
    var tcp: [Int] = []
  }

  private static let byTransport = MappingType(
    "server ports", "the ports of each transport", ByTransport(),
    [
      .key("udp", numbers, \.udp, "a port, or several, reached by UDP"),
      .key("tcp", numbers, \.tcp, "a port, or several, reached by TCP"),
    ])
}

extension Topology.Server.Kind {
  /// The only transport of the kind; nil when there is a choice.
  fileprivate var onlyTransport: Topology.Server.Transport? {
    switch self {
    case .stun: .udp
    case .declared: .tcp
    case .turn: nil
    }
  }
}

extension ValueFormat where Value == Topology.Server.Kind {
  /// Reads `stun`, `turn`, or a server that a registered profile declares.
  static var serverFormat: ValueFormat<Topology.Server.Kind> {
    ValueFormat(.text) { node, reading in
      guard let text = ValueFormat<String>.text.decode(node, &reading) else { return nil }
      let legal = Topology.Server.Kind.words(in: reading.registry)
      guard legal.contains(text) else {
        let hint = Suggestion.hint(for: text, among: legal)
        let message = "'\(YAMLNode.abbreviated(text))' is not one of the choices here"
        reading.report(.notAChoice, message, at: node.span, hint: hint)
        return nil
      }
      return Topology.Server.Kind(text)
    } encode: {
      .text($0.word)
    }
  }
}

extension Topology.Server.Kind {
  /// Returns the words of all kinds.
  static func words(in registry: ProfileRegistry) -> [String] {
    (["stun", "turn"] + registry.vocabularies.flatMap(\.servers).map(\.name)).inOrderOfAppearance
  }
}
