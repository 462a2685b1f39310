import ArgumentParser
import CallCore
import Foundation
import LivePeer
import STUN
import Scenarios
import TURN

/// Our STUN and TURN server on this machine's own network.
struct TURNCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "turn", abstract: "Serve STUN and TURN on this machine's network, by UDP and TCP.",
    discussion: """
      For example: callsim turn --listen 192.168.1.10:3478 --user alice:secret. Prints a line when a relay opens or \
      closes, and ends with Ctrl-C. Peers on loopback and multicast addresses are refused unless --allow names them.
      """)

  @Option(
    help: ArgumentHelp("An address to serve; may be repeated.", valueName: "IP:PORT"),
    transform: { try value(of: $0, Endpoint.init, "an address and a port, such as 192.168.1.10:3478 or [::1]:3478") })
  var listen: [Endpoint]

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
    transform: { try value(of: $0, portRange, "two ports from 1 to 65535, such as 49152-65535") })
  var ports: ClosedRange<UInt16> = 49_152...65_535

  @Option(help: ArgumentHelp("A nonce becomes stale.", valueName: "SECONDS"))
  var nonceLifetime: UInt32 = 600

  @Option(help: ArgumentHelp("A permission lapses.", valueName: "SECONDS"))
  var permissionLifetime: UInt32 = 300

  @Option(help: ArgumentHelp("A channel lapses.", valueName: "SECONDS"))
  var channelLifetime: UInt32 = 600

  @Option(help: ArgumentHelp("Most allocations of a user. (default: no limit)", valueName: "N"))
  var userQuota: Int?

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
    let configuration = try configuration()
    let loop = SocketLoop()
    let server = TURNSocketServer(configuration: configuration, random: .system, loop: loop)
    do throws(SystemError) {
      for endpoint in endpoints { try server.listen(on: endpoint) }
    } catch {
      throw UsageProblem(message: "cannot serve: \(error)")
    }
    server.onEvent = { Output.text(Self.line(for: $0)) }
    for endpoint in endpoints { Output.text("listening on \(endpoint), UDP and TCP\n") }
    withExtendedLifetime(SignalWatch([SIGINT, SIGTERM], on: loop) { loop.stop() }) { loop.run() }
    Output.text(Self.summary(server.counters))
  }

  private var endpoints: [Endpoint] {
    guard let first = listen.first, let alternate else { return listen }
    return listen + [
      Endpoint(first.address, port: alternate.port), Endpoint(alternate.address, port: first.port), alternate,
    ]
  }

  private func configuration() throws -> TURNServer.Configuration {
    guard !listen.isEmpty else { throw UsageProblem(message: "say where to serve: --listen IP:PORT") }
    guard !user.isEmpty || secret != nil else {
      throw UsageProblem(message: "nobody could come in: name somebody with --user, or give a --secret")
    }
    let relays = relayIp.isEmpty ? listen.map(\.address) : relayIp
    if let wildcard = relays.first(where: { $0 == .anyIPv4 || $0 == .anyIPv6 }) {
      throw UsageProblem(message: "\(wildcard) is no address that peers can send to: name one with --relay-ip")
    }
    if let alternate, let first = listen.first,
      alternate.address == first.address || alternate.port == first.port
    {
      throw UsageProblem(message: "\(alternate) shares its address or its port with \(first): both must differ")
    }
    var configuration = TURNServer.Configuration(
      realm: realm,
      credentials: TURNCredentialStore(users: user, sharedSecret: secret, wallClock: SocketLoop().wallClock()),
      relays: relays.map { relay in
        TURNServer.Relay(relay, advertised: externalIp.first { $0.isIPv6 == relay.isIPv6 })
      })
    configuration.relayPorts = ports
    configuration.nonceLifetime = .seconds(Int64(nonceLifetime))
    configuration.permissionLifetime = .seconds(Int64(permissionLifetime))
    configuration.channelLifetime = .seconds(Int64(channelLifetime))
    // coturn's own client and others of its age still use them.
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
    case .openRelay(let relay, let client, let username): "relay \(relay) for \(username) at \(client)\n"
    case .closeRelay(let relay, let client, let reason): "relay \(relay) of \(client) closed: \(reason)\n"
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

/// Reads one argument, or says what was meant.
private func value<Value>(of text: String, _ read: (String) -> Value?, _ meant: String) throws -> Value {
  guard let value = read(text) else { throw ValidationError("'\(text)' is not \(meant)") }
  return value
}

private func portRange(_ text: String) -> ClosedRange<UInt16>? {
  let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
  guard parts.count == 2, let low = parts[0], let high = parts[1], low > 0, low <= high else { return nil }
  return low...high
}

extension TURNCredentials {
  /// `name:password`; the password may have colons of its own.
  fileprivate init?(nameAndPassword text: String) {
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
    self.init(username: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
  }
}
