import ArgumentParser
import CallCore
import DTLS
import Formats
import Foundation
import LivePeer
import STUN
import ScenarioFormat
import ScenarioSuite
import TURN

/// The STUN and TURN server of callsim on this machine's own network.
struct TURNCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "turn", abstract: "Serve STUN and TURN on this machine's network, by UDP, TCP and TLS.",
    discussion: """
      For example: \(ProgramName.current) turn --listen 192.168.1.10:3478 --user alice:secret. Prints a line \
      when a relay opens or closes, and ends with Ctrl-C. Peers on loopback, link-local, multicast and reserved addresses, and on IPv6 \
      addresses that stand for IPv4 ones, are refused unless --allow names them; other peers on this machine's own \
      network are not: see --deny. Nothing is ever relayed to the addresses and ports that clients come to. 0.0.0.0 and [::] stand for the addresses that this machine has now.
      """)

  @Option(
    help: ArgumentHelp("An address to serve; may be repeated.", valueName: "IP:PORT"),
    transform: { try value(of: $0, Endpoint.init, "an address and a port, such as 192.168.1.10:3478 or [::1]:3478") })
  var listen: [Endpoint] = []

  @Option(
    help: ArgumentHelp("An address to serve by TLS; may be repeated.", valueName: "IP:PORT"),
    transform: { try value(of: $0, Endpoint.init, "an address and a port, such as 192.168.1.10:5349 or [::1]:5349") })
  var listenTls: [Endpoint] = []

  @Option(
    help: ArgumentHelp("What --listen-tls shows: the server's certificate and its chain, as PEM.", valueName: "FILE"))
  var certificate: String?

  @Option(help: ArgumentHelp("The private key of the certificate, as PEM without a passphrase.", valueName: "FILE"))
  var key: String?

  @Option(
    help: ArgumentHelp("Where relays are opened. (default: the addresses served)", valueName: "IP"),
    transform: { try value(of: $0, IPAddress.init, "an IP address") })
  var relayIp: [IPAddress] = []

  @Option(
    help: ArgumentHelp("What clients are told instead of the relay's address: for behind a NAT.", valueName: "IP"),
    transform: { try value(of: $0, IPAddress.init, "an IP address") })
  var externalIp: [IPAddress] = []

  @Option(
    help: ArgumentHelp("A second address and port, for RFC 5780 tests of NAT behaviour.", valueName: "IP:PORT"),
    transform: { try value(of: $0, Endpoint.init, "an address and a port that both differ from those served") })
  var alternate: Endpoint?

  @Option(
    help: ArgumentHelp("Somebody who may come in; may be repeated.", valueName: "NAME:PASSWORD"),
    transform: { text in
      try value(of: text, TURNCredentials.init(nameAndPassword:), "a name, a colon and a password")
    })
  var user: [TURNCredentials] = []

  @Option(help: ArgumentHelp("Lets in whoever has time-limited credentials made with this.", valueName: "SECRET"))
  var secret: String?

  @Option(help: "The realm of the long-term credentials.")
  var realm = "callsim"

  @Option(
    help: ArgumentHelp("The ports relays take.", valueName: "LOW-HIGH"),
    transform: { try value(of: $0, ClosedRange.init(ports:), "two ports from 1 to 65535, such as 49152-65535") })
  var ports: ClosedRange<UInt16> = 49_152...65_535

  @Option(help: ArgumentHelp("A nonce becomes stale.", valueName: "SECONDS"))
  var nonceLifetime: UInt32 = 600

  @Option(help: ArgumentHelp("A permission lapses.", valueName: "SECONDS"))
  var permissionLifetime: UInt32 = 300

  @Option(help: ArgumentHelp("A channel lapses.", valueName: "SECONDS"))
  var channelLifetime: UInt32 = 600

  @Option(help: ArgumentHelp("Most allocations of a user.", valueName: "N"))
  var userQuota = 256

  @Option(help: ArgumentHelp("Most allocations at all. (default: no limit)", valueName: "N"))
  var totalQuota: Int?

  @Option(
    help: ArgumentHelp("Peers to allow that would be refused; may be repeated.", valueName: "PREFIX"),
    transform: { try value(of: $0, IPPrefix.init, "a prefix such as 127.0.0.0/8") })
  var allow: [IPPrefix] = []

  @Option(
    help: ArgumentHelp("Peers to refuse (403); may be repeated.", valueName: "PREFIX"),
    transform: { try value(of: $0, IPPrefix.init, "a prefix such as 10.0.0.0/8") })
  var deny: [IPPrefix] = []

  func run() throws {
    signal(SIGPIPE, SIG_IGN)
    let loop = SocketLoop()
    let configuration = try configuration(on: loop)
    let tls = try tlsContext()
    let server = TURNSocketServer(configuration: configuration, random: .system, loop: loop)
    var (served, servedByTLS): ([Endpoint], [Endpoint]) = ([], [])
    do throws(SystemError) {
      for endpoint in endpoints { served += try server.listen(on: endpoint) }
      if let tls { for endpoint in listenTls { servedByTLS += try server.listen(on: endpoint, over: tls) } }
      for relay in configuration.relays { try server.checkRelays(at: relay.address) }
    } catch {
      throw UsageProblem(message: "cannot serve: \(error)")
    }
    // Installs signal handlers before reporting that it listens: a reader may then end the process immediately.
    let signals = SignalWatch(on: loop) { loop.stop() }
    // The server must not wait for the reader of this log.
    let log = LogOutput()
    server.onEvent = { log.line(Self.line(for: $0)) }
    for endpoint in served { log.line("listening on \(endpoint), UDP and TCP") }
    for endpoint in servedByTLS { log.line("listening on \(endpoint), TLS") }
    if secret != nil { server.renewCredentials { credentials(on: loop) } }
    withExtendedLifetime(signals) { loop.run() }
    log.line(Self.summary(server.counters))
    if let reason = log.finish() { Output.noteLoss(reason) }
  }

  /// Returns the credentials that are valid at the current date.
  private func credentials(on loop: SocketLoop) -> TURNCredentialStore {
    TURNCredentialStore(users: user, sharedSecret: secret, wallClock: loop.wallClock())
  }

  /// Returns the TLS identity; nil if TLS is not served.
  private func tlsContext() throws -> TLSContext? {
    guard !listenTls.isEmpty else {
      guard certificate == nil, key == nil else {
        throw UsageProblem(message: "--certificate and --key are for --listen-tls, which is not there")
      }
      return nil
    }
    guard let certificate, let key else {
      throw UsageProblem(message: "--listen-tls needs --certificate and --key: TLS has no server without them")
    }
    do {
      return try TLSContext(server: TLSIdentity.read(certificate: .of(certificate), key: .of(key)))
    } catch {
      throw UsageProblem(message: "\(error)")
    }
  }

  private var endpoints: [Endpoint] {
    guard let first = listen.first, let alternate else { return listen }
    return listen + [
      Endpoint(first.address, port: alternate.port), Endpoint(alternate.address, port: first.port), alternate,
    ]
  }

  /// The addresses for clients over any transport, without the alternate ones.
  private var everywhere: [Endpoint] { listen + listenTls }

  private func checkPorts(relays: [IPAddress]) throws {
    let served = Set(
      (endpoints + listenTls).filter { $0.address.isUnspecified || relays.contains($0.address) }.map(\.port))
    guard ports.allSatisfy(served.contains) else { return }
    throw UsageProblem(
      message: "--ports leaves none for relays: clients come to all of \(ports.lowerBound)-\(ports.upperBound)")
  }

  /// Multicast and broadcast addresses, to which a socket can be bound nevertheless.
  private static let nobodysAddresses = ["224.0.0.0/4", "255.255.255.255/32", "ff00::/8"].compactMap { IPPrefix($0) }

  private func checkAddresses(relays: [IPAddress]) throws {
    if let twice = Self.repeated(everywhere.filter { $0.port != 0 }) {
      throw UsageProblem(message: "\(listenTls.contains(twice) ? "--listen-tls" : "--listen") names \(twice) twice")
    }
    if let wildcard = relays.first(where: \.isUnspecified) {
      throw UsageProblem(
        message: "\(wildcard) is no address that peers can send to: --relay-ip takes one of this machine's")
    }
    if let group = relays.first(where: { relay in Self.nobodysAddresses.contains { $0.contains(relay) } }) {
      throw UsageProblem(
        message: "\(group) is no address of a machine: --relay-ip takes one of this machine's")
    }
    // A client that requests no family gets IPv4 (RFC 8656 section 7.2), also over IPv6; over IPv4 few request another.
    if let lonely = everywhere.first(where: { !$0.address.isIPv6 }), !relays.contains(where: { !$0.isIPv6 }) {
      throw UsageProblem(
        message: "there is no IPv4 relay for the clients of \(lonely): name an IPv4 address with --relay-ip")
    }
    if let unused = externalIp.first(where: { told in !relays.contains { $0.isIPv6 == told.isIPv6 } }) {
      let family = unused.isIPv6 ? "IPv6" : "IPv4"
      throw UsageProblem(message: "--external-ip \(unused) stands for no relay: there is none of \(family)")
    }
    guard let alternate else { return }
    guard let first = listen.first else {
      throw UsageProblem(message: "--alternate goes with --listen: its tests are by UDP")
    }
    guard first.port != 0, alternate.port != 0 else {
      throw UsageProblem(message: "--alternate needs ports that are named, here and in --listen, not 0")
    }
    if let wildcard = [first, alternate].first(where: \.address.isUnspecified) {
      throw UsageProblem(message: "--alternate needs addresses that are named, here and in --listen, not \(wildcard)")
    }
    if alternate.address == first.address || alternate.port == first.port {
      throw UsageProblem(message: "\(alternate) shares its address or its port with \(first): both must differ")
    }
  }

  private static let longestName = 508

  private func checkUsers() throws {
    guard !user.isEmpty || secret != nil else {
      throw UsageProblem(message: "no client could authenticate: add --user or --secret")
    }
    // Every challenge contains the realm, so no client could log in with one that violates RFC 8489 section 14.9.
    guard !realm.isEmpty, realm.unicodeScalars.count < 128 else {
      throw UsageProblem(message: "--realm takes 1 to 127 characters, not \(realm.unicodeScalars.count)")
    }
    guard realm.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw UsageProblem(message: "--realm takes no control characters")
    }
    if let long = user.first(where: { $0.username.utf8.count > Self.longestName }) {
      throw UsageProblem(
        message: """
          --user takes names of at most \(Self.longestName) bytes (RFC 8489 section 14.3), not \
          \(long.username.utf8.count): nobody could come in as '\(long.username.prefix(20))…'
          """)
    }
    if secret == "" { throw UsageProblem(message: "--secret is empty: anyone could authenticate") }
    if let twice = Self.repeated(user.map(\.username)) {
      throw UsageProblem(message: "--user names '\(twice)' twice; a user has one password")
    }
    for (option, count) in [("--user-quota", userQuota), ("--total-quota", totalQuota ?? .max)] {
      if count < 1 { throw UsageProblem(message: "\(option) takes at least 1, not \(count)") }
    }
    let lifetimes = [
      ("--nonce-lifetime", nonceLifetime), ("--permission-lifetime", permissionLifetime),
      ("--channel-lifetime", channelLifetime),
    ]
    for (option, seconds) in lifetimes where seconds < 1 {
      throw UsageProblem(message: "\(option) takes at least a second")
    }
  }

  private static func repeated<Value: Equatable>(_ values: [Value]) -> Value? {
    values.indices.first { values[..<$0].contains(values[$0]) }.map { values[$0] }
  }

  private func relays(on loop: SocketLoop) throws -> [IPAddress] {
    guard relayIp.isEmpty else { return relayIp }
    return try everywhere.map(\.address).map { served in
      guard served.isUnspecified else { return served }
      guard let relay = TURNSocketServer.relayAddress(for: served, of: loop.addresses) else {
        let family = served.isIPv6 ? "IPv6" : "IPv4"
        throw UsageProblem(message: "\(served) stands for no address: this machine has none of \(family)")
      }
      return relay
    }
  }

  private func configuration(on loop: SocketLoop) throws -> TURNServer.Configuration {
    guard !everywhere.isEmpty else {
      throw UsageProblem(message: "say where to serve: --listen IP:PORT or --listen-tls IP:PORT")
    }
    let relays = try relays(on: loop)
    try checkUsers()
    try checkAddresses(relays: relays)
    try checkPorts(relays: relays)
    var configuration = TURNServer.Configuration(
      realm: realm, credentials: credentials(on: loop),
      relays: relays.map { relay in
        TURNServer.Relay(relay, advertised: externalIp.first { $0.isIPv6 == relay.isIPv6 })
      })
    configuration.relayPorts = ports
    configuration.nonceLifetime = .seconds(Int64(nonceLifetime))
    configuration.permissionLifetime = .seconds(Int64(permissionLifetime))
    configuration.channelLifetime = .seconds(Int64(channelLifetime))
    // Old clients, such as coturn's own, still use these numbers.
    configuration.channelNumbers = ChannelData.formerNumbers
    configuration.userQuota = userQuota
    configuration.totalQuota = totalQuota
    configuration.allowedPeers = allow
    configuration.deniedPeers += deny
    configuration.software = "callsim \(RunEnvironment.version)"
    configuration.behaviorDiscovery = alternate.flatMap { alternate in
      listen.first.map { .init(primary: $0, alternate: alternate) }
    }
    return configuration
  }

  private static func line(for event: TURNServer.Event) -> String {
    switch event {
    case .openRelay(let relay, let client, let username):
      "relay \(relay) for \(TextStyle.printable(username)) at \(client)"
    case .closeRelay(let relay, let client, let reason): "relay \(relay) of \(client) closed: \(reason)"
    }
  }

  private static func summary(_ counters: TURNServer.Counters) -> String {
    """
    \(counters.requests) requests: \(counters.successes) granted, \(counters.errors) refused, \
    \(counters.challenges) challenged; \(counters.relayedToPeers) datagrams to peers, \
    \(counters.relayedToClients) to clients
    """
  }
}

/// Parses one argument; throws an error with the expected form if it is invalid.
private func value<Value>(of text: String, _ read: (String) -> Value?, _ meant: String) throws -> Value {
  guard let value = read(text) else { throw ValidationError("'\(text)' is not \(meant)") }
  return value
}

extension TURNCredentials {
  /// Parses `name:password`; the password may contain colons.
  fileprivate init?(nameAndPassword text: String) {
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex, text.index(after: colon) < text.endIndex
    else { return nil }
    self.init(username: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
  }
}
