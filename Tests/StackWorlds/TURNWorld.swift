package import CallCore
package import STUN
package import TURN

/// A client and a server over a network with 20 ms of latency each way, in virtual time.
package final class TURNWorld {
  package static let clientAddress = Endpoint("198.51.100.7:5000")!
  package static let serverAddress = Endpoint("203.0.113.1:3478")!
  package static let latency = Interval.milliseconds(20)

  package struct Sent {
    package let time: Instant
    package let bytes: [UInt8]
    package let path: Path
  }

  package var now = Instant.zero
  package var client: TURNClient
  package var server: TURNServer
  package var events: [TURNClient.Event] = []
  package var serverEvents: [TURNServer.Event] = []
  /// What the client sent, lost or not.
  package var clientSent: [Sent] = []
  /// What reached the client.
  package var clientReceived: [[UInt8]] = []
  /// What left relayed addresses towards peers.
  package var peerReceived: [Sent] = []
  /// Decides whether a datagram is lost.
  package var isLost: (Sent) -> Bool = { _ in false }
  /// While false nobody answers.
  package var serverIsUp = true

  private var flying: [Sent] = []
  private let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

  package init(
    _ configure: (inout TURNServer.Configuration, inout TURNClient.Configuration) -> Void = { _, _ in }
  ) {
    let alice = TURNCredentials(username: "alice", password: "secret")
    var serverConfiguration = TURNServer.Configuration(
      realm: "callsim", credentials: TURNCredentialStore(users: [alice]),
      relays: [.init(IPAddress("203.0.113.1")!), .init(IPAddress("2001:db8::1")!)])
    var clientConfiguration = TURNClient.Configuration(server: Self.serverAddress, credentials: alice)
    configure(&serverConfiguration, &clientConfiguration)
    let source = RandomSource(seed: 1)
    server = TURNServer(configuration: serverConfiguration, random: source.stream("server"))
    client = TURNClient(
      configuration: clientConfiguration, local: Self.clientAddress, random: source.stream("client"))
  }

  deinit { memory.deallocate() }

  // MARK: Running

  package func run(for interval: Interval) {
    let end = now + interval
    drain()
    while let next = nextInstant(), next <= end {
      now = max(now, next)
      deliver()
      client.advance(to: now)
      server.advance(to: now)
      drain()
    }
    now = end
  }

  private func nextInstant() -> Instant? {
    [flying.first?.time, client.wake.deadline, server.wake.deadline].compactMap { $0 }.min()
  }

  private func deliver() {
    while let packet = flying.first, packet.time <= now {
      flying.removeFirst()
      if packet.path.local == client.localAddress {
        clientReceived.append(packet.bytes)
        client.receive(packet.bytes.span.bytes, on: packet.path, at: now)
      } else if serverIsUp {
        server.receive(packet.bytes.span.bytes, on: packet.path, at: now)
      }
      drain()
    }
  }

  private func drain() {
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    while let path = client.transmit(into: &output) {
      let sent = Sent(time: now, bytes: output.span.bytes.copied, path: path)
      output.removeAll()
      clientSent.append(sent)
      fly(sent)
    }
    while let event = client.nextEvent() { events.append(event) }
    while let path = server.transmit(into: &output) {
      fly(Sent(time: now, bytes: output.span.bytes.copied, path: path))
      output.removeAll()
    }
    while let event = server.nextEvent() {
      serverEvents.append(event)
      guard case .openRelay(let relay, _, _) = event else { continue }
      server.relayOpened(relay, at: now)
      while let path = server.transmit(into: &output) {
        fly(Sent(time: now, bytes: output.span.bytes.copied, path: path))
        output.removeAll()
      }
    }
  }

  private func fly(_ sent: Sent) {
    if isLost(sent) { return }
    let arrival = Sent(time: now + Self.latency, bytes: sent.bytes, path: sent.path.reversed)
    if arrival.path.local == client.localAddress || arrival.path.local == Self.serverAddress {
      flying.append(arrival)
    } else {
      peerReceived.append(arrival)
    }
  }

  // MARK: Shorthand

  /// Asks for the allocation and waits for it.
  @discardableResult
  package func allocate() throws -> TURNClient.Allocation {
    try client.allocate(at: now)
    run(for: .seconds(1))
    guard let allocation = client.allocation else { throw client.counters.requests == 0 ? Trouble.noRequest : .refused }
    return allocation
  }

  /// The way to the server, as the client sees it.
  package var clientPath: Path { client.path }

  package enum Trouble: Error { case noRequest, refused }

  package func send(_ bytes: [UInt8], to peer: Endpoint) throws { try client.send(bytes.span.bytes, to: peer, at: now) }

  /// A peer sends a datagram to the relayed address.
  package func peerSends(_ bytes: [UInt8], from peer: Endpoint) throws {
    guard let relayed = client.allocation?.relayed else { throw Trouble.refused }
    server.receive(bytes.span.bytes, on: Path(local: relayed, remote: peer), at: now)
    run(for: .milliseconds(100))
  }

  /// The requests of a method that the client sent, retransmissions included.
  package func requests(_ method: STUNMethod) -> [(time: Instant, message: STUNMessage)] {
    clientSent.compactMap { sent in
      guard let message = try? STUNMessage(parsing: sent.bytes.span.bytes), message.messageClass == .request,
        message.method == method
      else { return nil }
      return (sent.time, message)
    }
  }
}
