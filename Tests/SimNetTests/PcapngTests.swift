import CallCore
import Testing

@testable import SimNet

/// A file's bytes, and a reader written from the format alone.
private final class CaptureFile {
  var bytes: [UInt8] = []

  struct Block {
    var type: UInt32
    var body: [UInt8]
  }

  static func integer(_ bytes: some Collection<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  func blocks() throws -> [Block] {
    var blocks: [Block] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      try #require(rest.count >= 12)
      let type = UInt32(Self.integer(rest.prefix(4)))
      let length = Int(Self.integer(rest.dropFirst(4).prefix(4)))
      try #require(length % 4 == 0 && length >= 12 && length <= rest.count)
      let block = rest.prefix(length)
      #expect(Int(Self.integer(block.suffix(4))) == length)
      blocks.append(Block(type: type, body: Array(block.dropFirst(8).dropLast(4))))
      rest = rest.dropFirst(length)
    }
    return blocks
  }

  /// Options as (code, value), padding and end removed.
  static func options(_ bytes: some Collection<UInt8>) -> [(code: Int, value: [UInt8])] {
    var options: [(Int, [UInt8])] = []
    var rest = Array(bytes)
    while rest.count >= 4, integer(rest.prefix(2)) != 0 {
      let length = Int(integer(rest[2..<4]))
      options.append((Int(integer(rest.prefix(2))), Array(rest[4..<4 + length])))
      rest.removeFirst(4 + (length + 3) / 4 * 4)
    }
    return options
  }

  static func packet(_ block: Block) -> [UInt8] { Array(block.body[20..<20 + Int(integer(block.body[12..<16]))]) }
}

private func onesComplement(_ bytes: [UInt8]) -> Int {
  var sum = 0
  for index in stride(from: 0, to: bytes.count, by: 2) {
    sum += Int(bytes[index]) << 8 | (index + 1 < bytes.count ? Int(bytes[index + 1]) : 0)
  }
  while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
  return sum
}

struct PcapngTests {
  private static let v4 = (Endpoint("192.0.2.1:5000")!, Endpoint("198.51.100.2:3478")!)
  private static let v6 = (Endpoint("[2001:db8::1]:5000")!, Endpoint("[2001:db8::2]:3478")!)

  private func capture(_ body: (inout PcapngWriter) -> Void) throws -> [CaptureFile.Block] {
    let file = CaptureFile()
    var writer = PcapngWriter(sink: { file.bytes += $0.copied })
    body(&writer)
    return try file.blocks()
  }

  @Test func `the section header is little-endian version 1.0 of unknown length`() throws {
    let block = try #require(try capture { _ in }.first)
    #expect(block.type == 0x0A0D_0D0A)
    #expect(Array(block.body.prefix(16)) == [0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0] + Array(repeating: 0xFF, count: 8))
  }

  @Test func `an interface is raw IP with its name and nanosecond times`() throws {
    let blocks = try capture { writer in
      let first = writer.addInterface(name: "alice/wlan0")
      let second = writer.addInterface(name: "bob")
      #expect(first.index == 0 && second.index == 1)
    }
    let block = try #require(blocks.dropFirst().first)
    #expect(block.type == 1)
    #expect(CaptureFile.integer(block.body.prefix(2)) == 101)
    let options = CaptureFile.options(block.body.dropFirst(8))
    #expect(options.map(\.code) == [2, 9])
    #expect(options.map(\.value) == [Array("alice/wlan0".utf8), [9]])
  }

  @Test func `a UDP packet over IPv4 has the headers of a wire`() throws {
    let blocks = try capture { writer in
      let interface = writer.addInterface(name: "a")
      let payload: [UInt8] = [1, 2, 3]
      writer.write(
        payload.span.bytes, source: Self.v4.0, destination: Self.v4.1, protocol: .udp, ecn: .ce, on: interface,
        direction: .outbound, at: .zero + .nanoseconds(7), comment: "dropped: queue")
    }
    let block = blocks[2]
    #expect(block.type == 6)
    let time = CaptureFile.integer(block.body[4..<8]) << 32 | CaptureFile.integer(block.body[8..<12])
    #expect(time == UInt64(WallClock.simulationEpoch) + 7)
    #expect(CaptureFile.integer(block.body[12..<16]) == 31 && CaptureFile.integer(block.body[16..<20]) == 31)
    let packet = CaptureFile.packet(block)
    #expect(packet.prefix(10) == [0x45, 3, 0, 31, 0, 0, 0x40, 0, 64, 17])
    #expect(packet[12..<20] == [192, 0, 2, 1, 198, 51, 100, 2])
    #expect(packet[20..<26] == [0x13, 0x88, 0x0D, 0x96, 0, 11])
    #expect(packet.suffix(3) == [1, 2, 3])
    #expect(onesComplement(Array(packet.prefix(20))) == 0xFFFF)
    let pseudo = Array(packet[12..<20]) + [0, 17, 0, 11] + packet[20...]
    #expect(onesComplement(pseudo) == 0xFFFF)
    let options = CaptureFile.options(block.body.dropFirst(52))
    #expect(options.map(\.code) == [2, 1])
    #expect(options.map(\.value) == [[2, 0, 0, 0], Array("dropped: queue".utf8)])
  }

  @Test func `a UDP packet over IPv6 sums its pseudo-header`() throws {
    let payload = pattern(101)
    let blocks = try capture { writer in
      let interface = writer.addInterface(name: "a")
      writer.write(
        payload.span.bytes, source: Self.v6.0, destination: Self.v6.1, protocol: .udp, on: interface, at: .zero)
    }
    let packet = CaptureFile.packet(blocks[2])
    #expect(packet.prefix(8) == [0x60, 0, 0, 0, 0, 109, 17, 64])
    let pseudo = Array(packet[8..<40]) + [0, 0, 0, 109, 0, 0, 0, 17] + packet[40...]
    #expect(onesComplement(pseudo) == 0xFFFF)
    #expect(Array(packet.suffix(101)) == payload)
  }

  @Test func `a UDP checksum of zero is sent as all ones`() throws {
    func checksum(_ payload: [UInt8]) throws -> [UInt8] {
      let blocks = try capture { writer in
        let interface = writer.addInterface(name: "a")
        writer.write(
          payload.span.bytes, source: Self.v4.0, destination: Self.v4.1, protocol: .udp, on: interface, at: .zero)
      }
      return Array(CaptureFile.packet(blocks[2])[26..<28])
    }
    // What completes the sum of all other words leaves a complement of zero.
    let rest = try checksum([0, 0])
    #expect(rest != [0xFF, 0xFF])
    #expect(try checksum(rest) == [0xFF, 0xFF])
  }

  @Test func `a TCP segment shows the ports of its path and a valid checksum`() throws {
    var connection = StreamConnection(
      connecting: Path(local: Endpoint("10.0.0.1:9")!, remote: Self.v4.1), initialSequence: 1, at: .zero)
    let syn = try #require(transmitted(&connection).first)
    let blocks = try capture { writer in
      let interface = writer.addInterface(name: "wan")
      writer.write(
        syn.span.bytes, source: Self.v4.0, destination: Self.v4.1, protocol: .tcp, on: interface, at: .zero)
    }
    let packet = CaptureFile.packet(blocks[2])
    #expect(packet[9] == 6)
    #expect(packet[20..<24] == [0x13, 0x88, 0x0D, 0x96])
    let pseudo = Array(packet[12..<20]) + [0, 6, 0, UInt8(syn.count)] + packet[20...]
    #expect(onesComplement(pseudo) == 0xFFFF)
  }

  @Test func `secrets are a TLS key log block, padded`() throws {
    let text = "CLIENT_RANDOM 00 01\n"
    let blocks = try capture { $0.writeSecrets(keyLog: text + "x") }
    let block = blocks[1]
    #expect(block.type == 10)
    #expect(block.body.prefix(8) == [0x4B, 0x53, 0x4C, 0x54, 21, 0, 0, 0])
    #expect(Array(block.body.dropFirst(8)) == Array((text + "x\0\0\0").utf8))
  }

  @Test func `what no IP header fits is counted and left out`() throws {
    let blocks = try capture { writer in
      let interface = writer.addInterface(name: "a")
      let huge = pattern(65_508)
      let short: [UInt8] = [1, 2, 3]
      writer.write(
        short.span.bytes, source: Self.v4.0, destination: Self.v6.1, protocol: .udp, on: interface, at: .zero)
      writer.write(
        huge.span.bytes, source: Self.v4.0, destination: Self.v4.1, protocol: .udp, on: interface, at: .zero)
      writer.write(
        short.span.bytes, source: Self.v4.0, destination: Self.v4.1, protocol: .tcp, on: interface, at: .zero)
      let counts = (writer.packetCount, writer.skippedCount)
      #expect(counts == (1, 2))
    }
    #expect(blocks.count == 3)
  }
}
