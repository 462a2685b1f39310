import CallCore
import STUN
import TURN
import Testing

@Suite struct StreamFramerTests {
  /// A framer and what it found.
  private struct Reader {
    var framer = TURNStreamFramer()
    var messages: [[UInt8]] = []

    mutating func take(_ bytes: [UInt8]) -> Bool {
      var found: [[UInt8]] = []
      defer { messages += found }
      return framer.receive(bytes.span.bytes) { found.append($0.copied) }
    }
  }

  private static let binding: [UInt8] = {
    var message = STUNMessageBuilder(.request, .binding, STUNTransactionID(high: 1, low: 2))
    message.append(.software, "callsim")
    return message.bytes
  }()
  /// Five bytes of payload and three of padding.
  private static let channelData: [UInt8] = [0x40, 0x01, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]
  /// On a channel that RFC 5766 had and RFC 8656 has not.
  private static let empty: [UInt8] = [0x7F, 0xFF, 0, 0]

  @Test func `messages in one piece come out one by one`() {
    var reader = Reader()
    let isWhole = reader.take(Self.binding + Self.channelData + Self.empty + Self.binding)
    #expect(isWhole && reader.messages == [Self.binding, Self.channelData, Self.empty, Self.binding])
  }

  @Test(arguments: 1...45) func `it does not matter where the stream is cut`(size: Int) {
    let stream = Self.binding + Self.channelData + Self.empty + Self.channelData
    var reader = Reader()
    for start in stride(from: 0, to: stream.count, by: size) {
      let isWhole = reader.take(Array(stream[start..<min(start + size, stream.count)]))
      #expect(isWhole)
    }
    #expect(reader.messages == [Self.binding, Self.channelData, Self.empty, Self.channelData])
  }

  @Test func `a message waits for its padding`() {
    var reader = Reader()
    let isWhole = reader.take(Array(Self.channelData.dropLast()))
    #expect(isWhole && reader.messages.isEmpty)
    let isStillWhole = reader.take([0])
    #expect(isStillWhole && reader.messages == [Self.channelData])
  }

  @Test func `the largest messages pass`() {
    let channelData = [0x40, 0, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 65_536)
    var stun: [UInt8] = [0, 1, 0xFF, 0xFC, 0x21, 0x12, 0xA4, 0x42]
    stun += [UInt8](repeating: 0, count: 12 + 65_532)
    var reader = Reader()
    let isWhole = reader.take(channelData + stun)
    #expect(isWhole && reader.messages == [channelData, stun])
  }

  @Test(
    arguments: [
      [0x80], [0xC0], [0xFF, 0xFF], [0x80, 0, 0, 4], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC],
      [0, 1, 0, 3], [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x43], [0x3C, 0, 0, 2],
    ] as [[UInt8]])
  func `what no client sends breaks the stream, and what came before it is kept`(nonsense: [UInt8]) {
    var reader = Reader()
    let isWhole = reader.take(Self.binding + nonsense)
    #expect(!isWhole && reader.framer.isBroken && reader.messages == [Self.binding])
    let isWholeAgain = reader.take(Self.binding)
    #expect(!isWholeAgain && reader.messages.count == 1)
  }

  @Test(arguments: 1...200) func `random bytes never trap and never come out unchecked`(seed: UInt64) {
    var random = RandomStream(seed: seed)
    var reader = Reader()
    for _ in 0..<20 {
      var piece = random.bytes(Int(random.uniform(below: 40)))
      // Half the time begin like a message, so that more than the first byte is looked at.
      if random.chance(0.5) { piece = Array(Self.binding.prefix(Int(random.uniform(below: 24)))) + piece }
      _ = reader.take(piece)
    }
    for message in reader.messages {
      let isKnown = isSTUN(message.span.bytes) || (0x40...0x7F).contains(message[0])
      #expect(isKnown)
    }
  }
}
