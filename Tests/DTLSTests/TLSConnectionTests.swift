import CallCore
import DTLS
import StackWorlds
import Testing

struct TLSConnectionTests {
  private static func message(_ count: Int, _ seed: UInt64 = 7) -> [UInt8] {
    var stream = RandomSource(seed: seed).stream("message")
    return stream.bytes(count)
  }

  private static func established(_ pair: TLSPair) -> Bool {
    pair.client.state == .established && pair.server.state == .established
  }

  @Test(arguments: TLSVersion.allCases)
  func `both ends carry what the other sends`(version: TLSVersion) throws {
    var configuration = TLSPair.trusting
    configuration.versions = version...version
    let pair = try TLSPair(client: configuration)
    pair.run()
    #expect(Self.established(pair) && pair.client.version == version && pair.server.version == version)
    pair.send([1, 2, 3], from: .client)
    pair.send([4, 5], from: .server)
    pair.run()
    #expect(pair.serverReceived == [1, 2, 3] && pair.clientReceived == [4, 5])
  }

  @Test func `the dot that ends an absolute name is part of no certificate`() throws {
    let pair = try TLSPair(name: TLSPair.name + ".")
    pair.run()
    #expect(Self.established(pair))
    let other = try TLSPair(name: "other.test.")
    other.run()
    #expect(other.client.state == .failed(.certificate(.wrongName)))
  }

  @Test func `the newest version that both speak is spoken`() throws {
    let modern = try TLSPair()
    modern.run()
    let old = try TLSPair(versions: .tls12 ... .tls12)
    old.run()
    #expect(modern.client.version == .tls13 && old.client.version == .tls12)
    #expect(modern.client.cipher == "TLS_AES_128_GCM_SHA256")
  }

  @Test func `ends without a version in common say so`() throws {
    var configuration = TLSPair.trusting
    configuration.versions = .tls13 ... .tls13
    let pair = try TLSPair(client: configuration, versions: .tls12 ... .tls12)
    pair.run()
    #expect(pair.client.state == .failed(.alertReceived(.protocolVersion)))
    #expect(pair.server.state == .failed(.protocolViolation(.protocolVersion)))
  }

  @Test func `what is sent in the handshake arrives after it`() throws {
    let pair = try TLSPair()
    pair.send([1, 2], from: .client)
    pair.send([3], from: .client)
    #expect(pair.client.waitingByteCount == 3)
    pair.run()
    #expect(pair.serverReceived == [1, 2, 3] && pair.client.waitingByteCount == 0)
  }

  @Test(arguments: [[1], [3, 1], [5, 700], [16_384]])
  func `the cuts of the transport do not matter`(pieces: [Int]) throws {
    let pair = try TLSPair()
    pair.pieces = pieces
    let message = Self.message(50_000)
    pair.send(message, from: .client)
    pair.run()
    pair.send(message, from: .server)
    pair.run()
    #expect(pair.serverReceived == message && pair.clientReceived == message)
  }

  @Test func `close_notify ends both ends`() throws {
    let pair = try TLSPair()
    pair.run()
    pair.client.close(at: pair.now)
    pair.run()
    #expect(pair.client.state == .closed && pair.server.state == .closed)
    pair.send([1], from: .server)
    #expect(pair.server.takeOutput().isEmpty)
  }

  @Test func `a transport that ends in the handshake is a failure, and one that ends later is not`() throws {
    let pair = try TLSPair()
    pair.client.transportEnded()
    #expect(pair.client.state == .failed(.handshakeCut))
    let late = try TLSPair()
    late.run()
    late.client.transportEnded()
    #expect(late.client.state == .closed)
  }

  @Test func `a record that was changed on its way ends the connection`() throws {
    let pair = try TLSPair()
    pair.run()
    pair.damage = { _, _, record in record[record.count - 1] ^= 1 }
    pair.send([1, 2, 3], from: .client)
    pair.run()
    #expect(pair.server.state == .failed(.protocolViolation(TLSAlert(rawValue: 20))))
    #expect(pair.serverReceived.isEmpty)
  }

  @Test func `TURN in clear on a port for TLS is refused`() throws {
    let pair = try TLSPair()
    let request: [UInt8] = [0, 3, 0, 0, 0x21, 0x12, 0xA4, 0x42] + Self.message(12)
    #expect(pair.forge(request, to: .server) == 0)
    #expect(pair.server.state == .failed(.notTLS))
  }

  @Test func `a server that answers in clear is no server of TLS`() throws {
    let pair = try TLSPair()
    #expect(pair.forge(Self.message(100).map { $0 | 0x80 }, to: .client) == 0)
    #expect(pair.client.state == .failed(.notTLS))
  }

  @Test func `stun turn is chosen where it is offered, and other protocols go on without`() throws {
    let cases: [([String], String?)] = [([], nil), (["http/1.1", "stun.turn"], "stun.turn"), (["h2"], nil)]
    for (offered, chosen) in cases {
      var configuration = TLSPair.trusting
      configuration.applicationProtocols = offered
      let pair = try TLSPair(client: configuration)
      pair.run()
      #expect(Self.established(pair))
      #expect(pair.client.applicationProtocol == chosen && pair.server.applicationProtocol == chosen)
    }
  }

  @Test func `a DNS name is told to the server, an address is not`() throws {
    let named = try TLSPair()
    named.run()
    let numbered = try TLSPair(name: "\(TLSPair.address)")
    numbered.run()
    #expect(named.server.requestedServerName == "turn.test" && numbered.server.requestedServerName == nil)
    #expect(Self.established(named) && Self.established(numbered))
  }
}

struct TLSCertificateTests {
  private static func problem(of pair: TLSPair) -> TLSCertificateProblem? {
    pair.run()
    guard case .failed(.certificate(let problem)) = pair.client.state else { return nil }
    guard case .failed(.alertReceived) = pair.server.state else {
      Issue.record("the server was not told: \(pair.server.state)")
      return problem
    }
    return problem
  }

  @Test(arguments: TLSVersion.allCases)
  func `a certificate that cannot be trusted ends the handshake with the reason`(version: TLSVersion) throws {
    let (start, day) = (TLSPair.start, TLSPair.day)
    let stranger = TLSAuthority(
      name: "Stranger", entropy: .stream(RandomSource(seed: 2).stream("stranger")), wallClock: WallClock())
    let cases: [(TLSIdentity, TLSCertificateProblem)] = [
      (TLSPair.identity(validity: start - 2 * day...start - day), .expired),
      (TLSPair.identity(validity: start + day...start + 2 * day), .notYetValid),
      (TLSPair.identity(names: ["other.test"]), .wrongName),
      (TLSPair.identity(by: stranger), .unknownIssuer),
    ]
    for (identity, problem) in cases {
      #expect(
        Self.problem(of: try TLSPair(identity: identity, versions: version...version)) == problem)
    }
  }

  @Test func `who believes anybody takes them all`() throws {
    var configuration = TLSClientConfiguration()
    configuration.trust = .anybody
    let old = TLSPair.identity(names: ["other.test"], validity: TLSPair.start - 9...TLSPair.start - 1)
    let pair = try TLSPair(client: configuration, identity: old)
    pair.run()
    #expect(pair.client.state == .established)
  }

  @Test func `a certificate expires in virtual time`() throws {
    let identity = TLSPair.identity(validity: TLSPair.start...TLSPair.start + 60)
    let before = try TLSPair(identity: identity, at: .zero + .seconds(59))
    #expect(Self.problem(of: before) == nil && before.client.state == .established)
    #expect(Self.problem(of: try TLSPair(identity: identity, at: .zero + .seconds(61))) == .expired)
  }

  @Test func `a client goes by its own clock`() throws {
    let late = WallClock(skew: .seconds(2 * TLSPair.day))
    #expect(Self.problem(of: try TLSPair(wallClock: late)) == .expired)
  }

  @Test func `a name is compared by the rules for names`() throws {
    let wild = TLSPair.identity(names: ["*.example.test"])
    let cases: [(String, Bool)] = [
      ("TURN.test", true), ("a.example.test", true), ("example.test", false), ("a.b.example.test", false),
      ("203.0.113.3", false), ("server", false),
    ]
    for (name, isGood) in cases {
      let identity = name.hasSuffix("example.test") ? wild : TLSPair.identity
      #expect(Self.problem(of: try TLSPair(name: name, identity: identity)) == (isGood ? nil : .wrongName), "\(name)")
    }
  }
}

struct TLSDeterminismTests {
  static func transcript(seed: UInt64, at now: Instant = .zero) throws -> String {
    let pair = try TLSPair(seed: seed, at: now)
    pair.send([1, 2, 3], from: .client)
    pair.run()
    pair.send([4], from: .server)
    pair.client.close(at: now)
    pair.run()
    return "\(pair.records)\n\(pair.keyLog)"
  }

  @Test func `one seed gives one transcript and another seed another`() throws {
    let first = try Self.transcript(seed: 7)
    #expect(try first == Self.transcript(seed: 7))
    #expect(try first != Self.transcript(seed: 8))
  }

  @Test func `another process writes the same bytes`() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
      print("[[\(try TLSDeterminismTests.transcript(seed: 37))]]")
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(try output.contains("[[\(Self.transcript(seed: 37))]]"))
  }
}

struct TLSReaderTests {
  /// What the reader makes of the pair's records.
  private static func read(_ pair: TLSPair, keyLog: [String]) -> (client: [UInt8], server: [UInt8], unreadable: Int) {
    let secrets = TLSSecrets()
    for line in keyLog { secrets.add(line) }
    let reader = TLSReader(secrets: secrets)
    var (client, server): ([UInt8], [UInt8]) = ([], [])
    for (sender, bytes) in pair.records {
      for index in bytes.indices {
        reader.receive(bytes.span.bytes.extracting(index..<index + 1), from: sender) { plain in
          if sender == .client { client += plain.copied } else { server += plain.copied }
        }
      }
    }
    return (client, server, reader.unreadableCount)
  }

  @Test(
    arguments: [
      "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
      "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
    ])
  func `with the key log all that was said is read, and nothing without`(cipher: String) throws {
    var configuration = TLSPair.trusting
    let version: TLSVersion = cipher.hasPrefix("TLS") ? .tls13 : .tls12
    configuration.versions = version...version
    configuration.ciphers = cipher
    let pair = try TLSPair(client: configuration)
    pair.run()
    pair.send([1, 2, 3], from: .client)
    pair.send([UInt8](repeating: 9, count: 20_000), from: .server)
    pair.run()
    pair.send([4], from: .client)
    pair.client.close(at: pair.now)
    pair.run()
    #expect(pair.client.state == .closed)
    let read = Self.read(pair, keyLog: pair.keyLog)
    #expect(read.client == [1, 2, 3, 4] && read.server.count == 20_000 && read.unreadable == 0)
    let blind = Self.read(pair, keyLog: [])
    #expect(blind.client.isEmpty && blind.server.isEmpty && blind.unreadable > 4)
  }

  @Test func `a secret that only the server tells comes late, and nothing is missed`() throws {
    var configuration = TLSPair.trusting
    configuration.versions = .tls12 ... .tls12
    let pair = try TLSPair(client: configuration)
    pair.run()
    pair.send([1, 2, 3], from: .client)
    pair.send([9], from: .server)
    pair.run()
    let secrets = TLSSecrets()
    let reader = TLSReader(secrets: secrets)
    var (said, isProtected) = ([UInt8](), false)
    for (sender, bytes) in pair.records {
      // The server knows the secret once it has the client's second flight.
      if sender == .server, isProtected { for line in pair.keyLog { secrets.add(line) } }
      isProtected = isProtected || bytes.first == 20 || bytes.first == 22 && bytes.count > 5 && bytes[5] == 16
      reader.receive(bytes.span.bytes, from: sender) { said += $0.copied }
    }
    #expect(said.sorted() == [1, 2, 3, 9] && reader.unreadableCount == 0)
  }

  @Test func `bytes that are no TLS are survived`() {
    var stream = RandomSource(seed: 3).stream("noise")
    for _ in 0..<2_000 {
      let reader = TLSReader(secrets: TLSSecrets())
      var noise = stream.bytes(Int(stream.uniform(below: 200)))
      if noise.count > 6, stream.chance(0.8) {
        let length = UInt8(stream.uniform(below: 90))
        noise.replaceSubrange(0..<6, with: [22, 3, 3, 0, length, UInt8(stream.uniform(below: 3))])
      }
      reader.receive(noise.span.bytes, from: stream.chance(0.5) ? .client : .server) { _ in
        Issue.record("nothing was said")
      }
    }
  }
}
