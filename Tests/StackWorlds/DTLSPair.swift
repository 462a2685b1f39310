package import CallCore
package import DTLS
import SRTP

/// What the network does with one datagram.
package enum Fate { case deliver, lose, duplicate, delay(Interval) }

package enum Side: Sendable { case client, server }

/// Two transports on a link in virtual time, and everything they said.
package final class DTLSPair {
  package struct Datagram {
    package var from: Side
    package var bytes: [UInt8]
    package var sentAt: Instant
  }

  package static let oneWayDelay = Interval.milliseconds(10)
  package static let clientEndpoint = Endpoint("192.0.2.1:1000")!
  package static let serverEndpoint = Endpoint("198.51.100.1:2000")!
  package static let clientPath = Path(local: clientEndpoint, remote: serverEndpoint)

  // Made once: a certificate costs more than a handshake.
  package static let certificates = (client: certificate("alice"), server: certificate("bob"))

  package static func certificate(_ name: String, seed: UInt64 = 1) -> Certificate {
    let stream = RandomSource(seed: seed).stream("certificate/\(name)")
    return .generate(name: name, entropy: .stream(stream), wallClock: WallClock())
  }

  package var client: DTLSTransport
  package var server: DTLSTransport
  package var now = Instant.zero
  package var sent: [Datagram] = []
  package var events: [(side: Side, event: DTLSTransport.Event)] = []
  private var inFlight: [(at: Instant, number: Int, to: Side, bytes: [UInt8])] = []
  private var inserted = 0
  /// Decides by the number of the datagram, counted over both directions.
  package var fate: (Int, Datagram) -> Fate = { _, _ in .deliver }

  package init(
    seed: UInt64 = 1, client clientConfiguration: DTLSTransport.Configuration = .init(),
    server serverConfiguration: DTLSTransport.Configuration = .init()
  ) {
    let source = RandomSource(seed: seed)
    client = DTLSTransport(
      certificate: Self.certificates.client, entropy: .stream(source.stream("client")),
      configuration: clientConfiguration)
    server = DTLSTransport(
      certificate: Self.certificates.server, entropy: .stream(source.stream("server")),
      configuration: serverConfiguration)
  }

  package static var clientFingerprints: [Fingerprint] { [certificates.client.fingerprint()] }
  package static var serverFingerprints: [Fingerprint] { [certificates.server.fingerprint()] }

  package func startServer(as role: DTLSRole = .server, expecting: [Fingerprint] = DTLSPair.clientFingerprints) throws {
    server.bind(to: Self.clientPath.reversed, at: now)
    try server.start(as: role, remoteFingerprints: expecting, at: now)
    drain()
  }

  package func startClient(expecting: [Fingerprint] = DTLSPair.serverFingerprints) throws {
    client.bind(to: Self.clientPath, at: now)
    try client.start(as: .client, remoteFingerprints: expecting, at: now)
    drain()
  }

  package func start() throws {
    try startServer()
    try startClient()
  }

  /// Puts a datagram on the link as if `from` had sent it.
  package func inject(_ bytes: [UInt8], from: Side) {
    schedule(bytes, to: from == .client ? .server : .client, at: now)
  }

  package func drain() {
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { buffer.deallocate() }
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    _ = pump(
      &client, buffer: &output, send: { bytes, _ in send(bytes.copied, from: .client) },
      event: { events.append((.client, $0)) })
    _ = pump(
      &server, buffer: &output, send: { bytes, _ in send(bytes.copied, from: .server) },
      event: { events.append((.server, $0)) })
  }

  private func send(_ bytes: [UInt8], from: Side) {
    let datagram = Datagram(from: from, bytes: bytes, sentAt: now)
    let number = sent.count
    sent.append(datagram)
    let to = from == .client ? Side.server : .client
    switch fate(number, datagram) {
    case .lose: break
    case .deliver: schedule(bytes, to: to, at: now + Self.oneWayDelay)
    case .delay(let extra): schedule(bytes, to: to, at: now + Self.oneWayDelay + extra)
    case .duplicate:
      schedule(bytes, to: to, at: now + Self.oneWayDelay)
      schedule(bytes, to: to, at: now + Self.oneWayDelay)
    }
  }

  private func schedule(_ bytes: [UInt8], to: Side, at: Instant) {
    inFlight.append((at, inserted, to, bytes))
    inserted += 1
  }

  /// Runs until nothing is pending or `limit` is reached.
  package func run(until limit: Instant = .zero + .seconds(900)) {
    drain()
    while true {
      let arrival = inFlight.min { ($0.at, $0.number) < ($1.at, $1.number) }
      let next = [arrival?.at, client.wake.deadline, server.wake.deadline].compactMap { $0 }.min()
      guard let next, next <= limit else { break }
      now = max(now, next)
      if let arrival, arrival.at <= now {
        inFlight.removeAll { $0.number == arrival.number }
        switch arrival.to {
        case .client: client.receive(arrival.bytes.span.bytes, on: Self.clientPath, at: now)
        case .server: server.receive(arrival.bytes.span.bytes, on: Self.clientPath.reversed, at: now)
        }
      } else {
        client.advance(to: now)
        drain()
        server.advance(to: now)
      }
      drain()
    }
    now = max(now, limit == .zero + .seconds(900) ? now : limit)
  }

  package var bothConnected: Bool { client.state == .connected && server.state == .connected }

  /// Whether both ends hold the same keys, crossed.
  package var keysAgree: Bool {
    guard let here = client.session?.srtpKeys, let there = server.session?.srtpKeys else { return false }
    return here.local == there.remote && here.remote == there.local && here.profile == there.profile
      && here.local != here.remote
  }

  package func states(of side: Side) -> [DTLSTransportState] {
    events.compactMap { entry in
      guard entry.side == side, case .stateChanged(let state) = entry.event else { return nil }
      return state
    }
  }

  /// Every byte and time of the call in one text.
  package var transcript: String {
    sent.map { datagram in
      let digits = datagram.bytes.map { String($0, radix: 16) }.joined(separator: ".")
      return "\(datagram.sentAt) \(datagram.from) \(digits)"
    }.joined(separator: "\n")
  }
}
