import CallCore
import SCTP
import Testing

@Suite struct PacketTests {
  static let chunkExamples: [SCTPChunk] = [
    .data(
      DataChunk(flags: [.beginning, .end, .immediate], tsn: 7, stream: 3, ssn: 9, ppid: 51, payload: [1, 2, 3, 4, 5])),
    .data(DataChunk(flags: .unordered, tsn: .max, stream: .max, ssn: 0, ppid: 53, payload: [1, 2, 3, 4])),
    .initiation(
      InitChunk(
        initiateTag: 1, receiverWindow: 2, outboundStreams: 3, inboundStreams: 4, initialTSN: 5,
        parameters: InitParameters(
          supportsForwardTSN: true, supportedExtensions: [130, 192, 64], zeroChecksumMethod: 1))),
    .initiationAck(
      InitChunk(
        initiateTag: 1, receiverWindow: 2, outboundStreams: 3, inboundStreams: 4, initialTSN: 5,
        parameters: InitParameters(cookie: [1, 2, 3, 4, 5, 6, 7], supportsForwardTSN: true))),
    .sack(SACKChunk(cumulativeTSN: 1, receiverWindow: 2)),
    .sack(
      SACKChunk(
        cumulativeTSN: 1, receiverWindow: 2, gapBlocks: [.init(start: 2, end: 3), .init(start: 5, end: 9)],
        duplicates: [1, .max])),
    .heartbeat([0, 1, 0, 8, 1, 2, 3, 4]), .heartbeatAck([0, 1, 0, 6, 1, 2]),
    .abort([SCTPErrorCause(.userInitiatedAbort, text: "end")], isTagReflected: true),
    .abort([], isTagReflected: false),
    .shutdown(cumulativeTSN: 77), .shutdownAck, .shutdownComplete(isTagReflected: true),
    .error([SCTPErrorCause(.staleCookie, value: 5), SCTPErrorCause(.invalidStreamIdentifier, information: [0])]),
    .cookieEcho([1, 2, 3]), .cookieAck,
    .reconfiguration([
      .outgoingReset(.init(requestNumber: 1, responseNumber: 2, lastTSN: 3, streams: [4, 5, 6])),
      .incomingReset(number: 9, streams: [1]),
    ]),
    .reconfiguration([.response(number: 1, result: .inProgress)]),
    .forwardTSN(ForwardTSNChunk(newCumulativeTSN: 9, skipped: [.init(stream: 1, ssn: 2), .init(stream: 3, ssn: 4)])),
    .unknown(type: 99, bytes: [99, 0, 0, 7, 1, 2, 3]),
  ]

  @Test(arguments: chunkExamples) func `every chunk comes back as written`(chunk: SCTPChunk) {
    #expect(chunk.encoded.count % 4 == 0)
    #expect(chunks(of: packet(tag: 1, [chunk])) == [chunk])
  }

  @Test func `chunks in one packet come back in order`() {
    #expect(chunks(of: packet(tag: 1, Self.chunkExamples)) == Self.chunkExamples)
  }

  /// The figures of RFC 9260 sections 3.3.1, 3.3.4 and 3.3.10, RFC 3758 section 3.2, RFC 6525 sections 4.1 and 4.4.
  @Test(arguments: [
    (
      SCTPChunk.data(
        DataChunk(
          flags: [.beginning, .end], tsn: 0x0102_0304, stream: 5, ssn: 6, ppid: 51, payload: [UInt8]("hello".utf8)[...])
      ),
      [0, 3, 0, 21, 1, 2, 3, 4, 0, 5, 0, 6, 0, 0, 0, 51, 104, 101, 108, 108, 111, 0, 0, 0] as [UInt8]
    ),
    (
      .sack(SACKChunk(cumulativeTSN: 12, receiverWindow: 4_660, gapBlocks: [.init(start: 2, end: 3)], duplicates: [9])),
      [3, 0, 0, 24, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 1, 0, 1, 0, 2, 0, 3, 0, 0, 0, 9]
    ),
    (
      .error([SCTPErrorCause(.staleCookie, value: 258)]),
      [9, 0, 0, 12, 0, 3, 0, 8, 0, 0, 1, 2]
    ),
    (.shutdownComplete(isTagReflected: true), [14, 1, 0, 4]),
    (.cookieEcho([7, 8, 9]), [10, 0, 0, 7, 7, 8, 9, 0]),
    (
      .forwardTSN(ForwardTSNChunk(newCumulativeTSN: 7, skipped: [.init(stream: 1, ssn: 2)])),
      [192, 0, 0, 12, 0, 0, 0, 7, 0, 1, 0, 2]
    ),
    (
      .reconfiguration([
        .outgoingReset(.init(requestNumber: 1, responseNumber: 2, lastTSN: 3, streams: [4]))
      ]),
      [130, 0, 0, 22, 0, 13, 0, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0, 0]
    ),
    (
      .reconfiguration([.response(number: 5, result: .performed)]),
      [130, 0, 0, 16, 0, 16, 0, 12, 0, 0, 0, 5, 0, 0, 0, 1]
    ),
    (
      .initiation(
        InitChunk(
          initiateTag: 1, receiverWindow: 65_536, outboundStreams: 16, inboundStreams: 17, initialTSN: 2,
          parameters: InitParameters(supportsForwardTSN: true, supportedExtensions: [130, 192]))),
      [
        1, 0, 0, 30, 0, 0, 0, 1, 0, 1, 0, 0, 0, 16, 0, 17, 0, 0, 0, 2, 0xC0, 0, 0, 4, 0x80, 8, 0, 6, 130, 192, 0, 0,
      ]
    ),
  ])
  func `chunks are laid out as their RFCs draw them`(chunk: SCTPChunk, bytes: [UInt8]) {
    #expect(chunk.encoded == bytes)
  }

  @Test func `the checksum of a packet is sent least significant byte first`() {
    var bytes = packet(tag: 0x0102_0304, [.cookieAck])
    #expect(Array(bytes[..<8]) == [0x13, 0x88, 0x13, 0x88, 1, 2, 3, 4])
    let checksum = Array(bytes[8..<12])
    bytes.replaceSubrange(8..<12, with: [0, 0, 0, 0])
    let expected = CRC32C.checksum(of: bytes.span.bytes)
    #expect(checksum.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == expected)
  }

  @Test func `a changed byte makes the checksum wrong`() {
    let good = packet(tag: 1, [.cookieAck])
    #expect(SCTPPacketHeader.parse(good.span.bytes)?.checksum == .correct)
    for index in good.indices {
      var bad = good
      bad[index] ^= 0x10
      #expect(SCTPPacketHeader.parse(bad.span.bytes)?.checksum == .wrong)
    }
  }

  @Test func `a packet without checksum is told from one with a wrong one`() {
    var bytes = packet(tag: 1, [.cookieAck])
    bytes.replaceSubrange(8..<12, with: [0, 0, 0, 0])
    #expect(SCTPPacketHeader.parse(bytes.span.bytes)?.checksum == .zero)
  }

  @Test func `a chunk longer than its packet ends the packet`() {
    var bytes = packet(tag: 1, [.cookieAck, .shutdownAck])
    bytes[19] = 5
    var reader = SCTPChunkReader()
    let first = reader.next(in: bytes.span.bytes)
    let second = reader.next(in: bytes.span.bytes)
    #expect(first == .cookieAck)
    #expect(second == nil)
    #expect(reader.isMalformed)
  }

  @Test(arguments: [
    (UInt16(0x0100), false, false), (0x4000, false, true), (0x8000, true, false), (0xC000, true, true),
  ])
  func `the highest bits of an unknown type decide its treatment`(type: UInt16, continues: Bool, isReported: Bool) {
    let rule = UnknownTypeRule(parameterType: type)
    #expect(rule.continues == continues)
    #expect(rule.isReported == isReported)
  }

  @Test func `unknown parameters of an INIT are reported or end it by their type`() {
    let fixed: [UInt8] = [0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1]
    func parameters(_ bytes: [UInt8]) -> InitParameters? {
      let chunk: [UInt8] = [1, 0, 0, UInt8(20 + bytes.count)] + fixed + bytes
      guard case .initiation(let chunk)? = chunks(of: packet(tag: 0, [.unknown(type: 1, bytes: chunk)])).first else {
        return nil
      }
      return chunk.parameters
    }
    let forwardTSN: [UInt8] = [0xC0, 0, 0, 4]
    #expect(parameters([0xC1, 1, 0, 4] + forwardTSN)?.unrecognized == [[0xC1, 1, 0, 4]])
    #expect(parameters([0xC1, 1, 0, 4] + forwardTSN)?.supportsForwardTSN == true)
    #expect(parameters([0x81, 1, 0, 4] + forwardTSN)?.unrecognized == [])
    #expect(parameters([0x41, 1, 0, 4] + forwardTSN)?.unrecognized == [[0x41, 1, 0, 4]])
    #expect(parameters([0x41, 1, 0, 4] + forwardTSN)?.supportsForwardTSN == false)
    #expect(parameters([0x01, 1, 0, 4] + forwardTSN)?.unrecognized == [])
    #expect(parameters([0xC1, 1, 0, 3] + forwardTSN) == nil)
  }
}
