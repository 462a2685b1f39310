import CallCore
import SimNet
import Testing
import VirtualPeer

@testable import ScenarioJudge
@testable import ScenarioRun

/// What the wire tap makes of real packets on a simulated network.
@Suite struct WireTapTests {
  /// Alice and a server with a link between them that may lose, copy and reorder; what the tap tells is kept.
  private final class Bench {
    let simulator: Simulator
    let tap = WireTap()
    let reader: WireReader
    let alice: HostRuntime
    let server: HostRuntime
    let serverAddress: IPAddress
    var media: [WireMedia] = []

    init(loss: Double = 0, seed: UInt64 = 5) throws {
      simulator = Simulator(trace: Trace(), random: RandomSource(seed: seed))
      reader = WireReader(tap, peers: ["alice"])
      let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("192.0.2.0/24")!])
      let simulator = simulator
      var settings = LinkSettings()
      settings.delay = .milliseconds(20)
      if loss > 0 {
        settings.loss = .random(loss)
        settings.duplication = 0.3
        settings.jitter = .exponential(.milliseconds(100))
        settings.order = .allow
      }
      func add(_ name: String) throws -> HostRuntime {
        let host = try simulator.addHost(name)
        try simulator.attach(host, to: network, link: name, tx: settings, rx: settings)
        return HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      }
      alice = try add("alice")
      server = try add("server")
      serverAddress = server.network.activeInterfaces[0].addresses[0]
      simulator.tap = reader
      tap.listen(media: { [unowned self] in media.append($0) })
    }

    func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }
  }

  @Test func `what is kept of connections does not grow with those that are over`() throws {
    let bench = try Bench()
    bench.server.network.listen(on: 3_478) { $0.send([]) }
    for number in 0..<300 {
      let stream = bench.alice.network.connect(to: Endpoint(bench.serverAddress, port: 3_478))
      // What a TLS client begins with, so that there is something to decrypt.
      stream.send([22, 3, 1, 0, 4, 1, 0, 0, 0])
      bench.run(for: .seconds(1))
      if number % 2 == 0 { stream.close() } else { stream.abort() }
      bench.run(for: .seconds(1))
    }
    #expect(bench.reader.streams.count < 150 && bench.reader.readers.count < 150)
  }

  @Test(arguments: [0, 0.1], 1...20 as ClosedRange<UInt64>)
  func `media in a connection to a relay is told once and in order, whatever TCP has to do for it`(
    loss: Double, seed: UInt64
  ) throws {
    let bench = try Bench(loss: loss, seed: seed)
    bench.server.network.listen(on: 3_478) { stream in
      stream.send(request)
      for number in 0..<100 { stream.send(channelData(rtp(UInt16(number), payload: 101))) }
      stream.send(indication(0x0017, rtp(1_000)))
    }
    let stream = bench.alice.network.connect(to: Endpoint(bench.serverAddress, port: 3_478))
    stream.send(request + channelData(rtp(500)))
    for number in 501..<600 { stream.send(channelData(rtp(UInt16(number)))) }
    bench.run(for: .seconds(300))
    #expect(bench.media.filter { $0.direction == .tx }.map(\.sequence) == Array(500..<600))
    #expect(bench.media.filter { $0.direction == .rx }.map(\.sequence) == Array(0..<100) + [1_000])
    #expect(bench.media.allSatisfy { $0.transport == .tcp && $0.ssrc == 7 && $0.prefix == UInt64($0.sequence) })
    // Padding belongs to the framing.
    #expect(bench.media.first { $0.sequence == 3 }?.byteCount == 113)
  }

  @Test func `a connection that is not to a relay tells of no media`() throws {
    let bench = try Bench()
    bench.server.network.listen(on: 443) { _ in }
    let stream = bench.alice.network.connect(to: Endpoint(bench.serverAddress, port: 443))
    stream.send(Array("GET / HTTP/1.1\r\n\r\n".utf8) + request + channelData(rtp(1)))
    bench.run(for: .seconds(1))
    #expect(bench.media.isEmpty)
  }

  @Test func `datagrams are told bare and out of every framing, with one identity`() throws {
    let bench = try Bench()
    let socket = try #require(bench.alice.network.openDatagramSocket(address: nil) { _, _ in })
    let forms = [rtp(7), channelData(rtp(7)), indication(0x0016, rtp(7)), request, channelData([1, 2, 3])]
    for form in forms {
      bench.simulator.send(form.span.bytes, from: socket, to: Endpoint(bench.serverAddress, port: 9))
    }
    bench.run(for: .seconds(1))
    #expect(bench.media.count == 3)
    #expect(Set(bench.media.map(\.identity)).count == 1)
    #expect(bench.media.allSatisfy { $0.byteCount == 112 && $0.direction == .tx && $0.transport == .udp })
  }

  @Test(arguments: [[0..<26], [0..<9, 9..<26], [0..<26, 0..<9, 0..<9, 9..<26]])
  func `the certificate of a handshake is told once for each time that it is whole`(parts: [Range<Int>]) throws {
    let bench = try Bench()
    var told: [WireCertificate] = []
    bench.tap.listen(certificates: { told.append($0) })
    let shown = try #require(bench.server.network.openDatagramSocket(address: nil) { _, _ in })
    let address = bench.alice.network.activeInterfaces[0].addresses[0]
    let socket = try #require(bench.alice.network.openDatagramSocket(address: address) { _, _ in })
    let alice = bench.simulator.localEndpoint(of: socket)
    for part in parts {
      bench.simulator.send(certificate(part).span.bytes, from: shown, to: alice)
      bench.run(for: .seconds(1))
    }
    // The SHA-256 digest of the bytes 1, 2 and 3.
    let fingerprint =
      "sha-256 03:90:58:c6:f2:c0:cb:49:2c:53:3b:0a:4d:14:ef:77:cc:0f:78:ab:cc:ce:d5:28:7d:84:a1:a2:01:1c:fb:81"
    #expect(Set(told.map(\.fingerprint)) == [fingerprint])
    #expect(told.count == parts.count { $0.upperBound == 26 } && told.allSatisfy { $0.local == alice })
  }

  @Test func `cleartext in a connection to a relay is found`() throws {
    let bench = JudgeBench([])
    let network = try Bench()
    let detector = CleartextDetector(peers: [.named("alice")], tap: network.tap, watch: bench.watch)
    network.server.network.listen(on: 3_478) { _ in }
    let stream = network.alice.network.connect(to: Endpoint(network.serverAddress, port: 3_478))
    stream.send(request + channelData(rtp(5)))
    network.run(for: .seconds(1))
    #expect(bench.findings.isEmpty)
    bench.mediaSent("alice", at: 10, prefix: 5)
    #expect(bench.findings == ["no-cleartext: alice sent media in clear at 0.01 s"])
    withExtendedLifetime(detector) {}
  }
}

// MARK: - Packets

/// An RTP packet of source 7 whose payload begins with its number.
private func rtp(_ sequence: UInt16, payload: Int = 100) -> [UInt8] {
  var bytes: [UInt8] = [0x80, 111]
  bytes.append(bigEndian: sequence)
  bytes.append(bigEndian: UInt32(sequence) * 960)
  bytes.append(bigEndian: UInt32(7))
  bytes.append(bigEndian: UInt64(sequence))
  return bytes + Array(repeating: 0xAA, count: payload - 8)
}

/// A record with a part of a Certificate message: a list of one certificate of three bytes, and one of eleven.
private func certificate(_ part: Range<Int>) -> [UInt8] {
  let list: [UInt8] = [0, 0, 23, 0, 0, 3, 1, 2, 3, 0, 0, 14] + Array(repeating: 9, count: 14)
  let header: [UInt8] = [11, 0, 0, 26, 0, 1, 0, 0, UInt8(part.lowerBound), 0, 0, UInt8(part.count)]
  let fragment = header + list[part]
  return [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 1, 0, UInt8(fragment.count)] + fragment
}

private func channelData(_ data: [UInt8]) -> [UInt8] {
  var bytes: [UInt8] = [0x40, 0]
  bytes.append(bigEndian: UInt16(data.count))
  return bytes + data + Array(repeating: 0, count: (4 - data.count % 4) % 4)
}

/// A Send (0x0016) or Data (0x0017) indication.
private func indication(_ type: UInt16, _ data: [UInt8]) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.append(bigEndian: type)
  let padding = (4 - data.count % 4) % 4
  bytes.append(bigEndian: UInt16(12 + 4 + data.count + padding))
  bytes.append(bigEndian: UInt32(0x2112_A442))
  bytes += Array(repeating: 1, count: 12)
  bytes += [0x00, 0x12, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0]
  bytes.append(bigEndian: UInt16(0x0013))
  bytes.append(bigEndian: UInt16(data.count))
  return bytes + data + Array(repeating: 0, count: padding)
}

/// A Binding request: the first message of a connection to a TURN server.
private let request: [UInt8] = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + Array(repeating: 9, count: 12)
