package import CallCore
package import DTLS

/// A client and a server of TLS with a reliable transport between them, and everything they said.
package final class TLSPair {
  package static let name = "turn.test"
  package static let address = IPAddress("203.0.113.2")!
  package static let authority = TLSAuthority(
    name: "Test authority", entropy: .stream(RandomSource(seed: 1).stream("authority")), wallClock: WallClock())

  package static let day: Int64 = 86_400
  /// Unix seconds at the start of virtual time.
  package static let start = WallClock().unixSeconds(at: .zero)

  package static func identity(
    names: [String] = [TLSPair.name], validity: ClosedRange<Int64> = start - day...start + day,
    by authority: TLSAuthority = TLSPair.authority
  ) -> TLSIdentity {
    authority.issue(
      names: names, addresses: [address], validity: validity,
      entropy: .stream(RandomSource(seed: 2).stream("identity")))
  }

  package static let identity = identity()

  package static var trusting: TLSClientConfiguration {
    var configuration = TLSClientConfiguration()
    configuration.trust = .authorities(authority.certificates)
    return configuration
  }

  package let client: TLSConnection
  package let server: TLSConnection
  package var now = Instant.zero
  /// Records in the order of their writing.
  package private(set) var records: [(sender: TLSReader.Sender, bytes: [UInt8])] = []
  package private(set) var clientReceived: [UInt8] = []
  package private(set) var serverReceived: [UInt8] = []
  package private(set) var keyLog: [String] = []
  /// How many bytes of the transport arrive at once.
  package var pieces: [Int] = []
  /// Changes a record on its way.
  package var damage: (TLSReader.Sender, Int, inout [UInt8]) -> Void = { _, _, _ in }

  package init(
    seed: UInt64 = 1, client configuration: TLSClientConfiguration = TLSPair.trusting, name: String = TLSPair.name,
    identity: TLSIdentity = TLSPair.identity, versions: ClosedRange<TLSVersion> = .tls12 ... .tls13,
    wallClock: WallClock = WallClock(), at now: Instant = .zero
  ) throws {
    self.now = now
    let source = RandomSource(seed: seed)
    client = TLSConnection(
      client: TLSContext(client: configuration), serverName: name, entropy: .stream(source.stream("client")),
      wallClock: wallClock, at: now)
    server = TLSConnection(
      server: try TLSContext(server: identity, versions: versions), entropy: .stream(source.stream("server")))
  }

  package func send(_ bytes: [UInt8], from sender: TLSReader.Sender) {
    (sender == .client ? client : server).send(bytes.span.bytes, at: now)
  }

  /// Hands an end bytes that the other has not written; nothing may come of them.
  package func forge(_ bytes: [UInt8], to receiver: TLSReader.Sender) -> Int {
    (receiver == .client ? client : server).receive(bytes.span.bytes, at: now).count
  }

  /// Carries what is written until nobody writes.
  package func run() {
    var moved = true
    while moved {
      moved = false
      for sender in [TLSReader.Sender.client, .server] {
        let (from, to) = sender == .client ? (client, server) : (server, client)
        var stream: [UInt8] = []
        for record in from.takeOutput() {
          var record = record
          damage(sender, records.count { $0.sender == sender }, &record)
          records.append((sender, record))
          stream += record
        }
        keyLog += from.takeKeyLog()
        moved = moved || !stream.isEmpty
        var (start, turn) = (0, 0)
        while start < stream.count {
          let end = min(stream.count, start + (pieces.isEmpty ? stream.count : pieces[turn % pieces.count]))
          let plain = to.receive(stream.span.bytes.extracting(start..<end), at: now)
          if sender == .client { serverReceived += plain } else { clientReceived += plain }
          (start, turn) = (end, turn + 1)
        }
      }
    }
  }
}
