import CallCore
import SCTP
import Testing

@Suite struct DCEPTests {
  func parse(_ bytes: [UInt8]) -> DCEPMessage? { DCEPMessage(parsing: bytes.span.bytes) }

  @Test(arguments: [
    DataChannelParameters(label: "chat", protocolName: "xmpp"),
    DataChannelParameters(isOrdered: false, maximumRetransmits: 3, priority: 1_024),
    DataChannelParameters(label: "é", maximumPacketLifeTime: 65_535),
  ])
  func `an OPEN comes back as written`(parameters: DataChannelParameters) {
    #expect(parse(DCEPMessage.open(parameters).encoded) == .open(parameters))
  }

  /// RFC 8832 section 5.
  @Test func `messages are laid out as the RFC draws them`() {
    let parameters = DataChannelParameters(
      label: "ab", protocolName: "c", isOrdered: false, maximumRetransmits: 5, priority: 256)
    #expect(
      DCEPMessage.open(parameters).encoded == [3, 0x81, 1, 0, 0, 0, 0, 5, 0, 2, 0, 1] + [UInt8]("abc".utf8))
    #expect(DCEPMessage.acknowledgment.encoded == [2])
  }

  @Test(
    arguments: [
      (UInt8(0x00), true, nil, nil), (0x80, false, nil, nil), (0x01, true, 9, nil), (0x81, false, 9, nil),
      (0x02, true, nil, 9), (0x82, false, nil, 9),
    ] as [(UInt8, Bool, UInt16?, UInt16?)])
  func `every channel type is understood`(type: UInt8, isOrdered: Bool, retransmits: UInt16?, lifeTime: UInt16?) {
    let parameters = DataChannelParameters(
      isOrdered: isOrdered, maximumRetransmits: retransmits, maximumPacketLifeTime: lifeTime)
    #expect(parse([3, type, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0]) == .open(parameters))
  }

  @Test(
    arguments: [
      [], [1], [3], [3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0],
      [3, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
    ] as [[UInt8]])
  func `a malformed message is refused`(bytes: [UInt8]) {
    #expect(parse(bytes) == nil)
  }
}
