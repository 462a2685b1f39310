import CallCore
import RTP
import Testing

@Suite struct RTPDemultiplexerTests {
  func makeDemultiplexer() -> RTPDemultiplexer {
    var demultiplexer = RTPDemultiplexer(midExtensionID: 4)
    demultiplexer.setSections([
      RTPDemultiplexer.Section(mid: [UInt8]("a".utf8), payloadTypes: [111, 100], sources: [1]),
      RTPDemultiplexer.Section(mid: [UInt8]("v".utf8), payloadTypes: [96, 100]),
    ])
    return demultiplexer
  }

  func route(
    _ demultiplexer: inout RTPDemultiplexer, ssrc: UInt32, payloadType: UInt8, mid: String? = nil
  ) -> Int? {
    var extensions = RTPHeaderExtensions()
    if let mid { extensions.append(id: 4, bytes: [UInt8](mid.utf8).span.bytes) }
    let header = RTPHeader(payloadType: payloadType, sequenceNumber: 1, timestamp: 1, ssrc: ssrc)
    let bytes = written { _ = header.write(into: &$0, extensions: extensions) }
    return RTPPacket(bytes: bytes).flatMap { demultiplexer.section(of: $0, in: bytes.span.bytes) }
  }

  @Test func `the media identification wins and binds the source`() {
    var demultiplexer = makeDemultiplexer()
    let routes = [
      route(&demultiplexer, ssrc: 9, payloadType: 111, mid: "v"), route(&demultiplexer, ssrc: 9, payloadType: 111),
    ]
    #expect(routes == [1, 1])
    #expect(demultiplexer.section(ofSource: 9) == 1)
  }

  @Test func `a signalled source needs no more`() {
    var demultiplexer = makeDemultiplexer()
    let section = route(&demultiplexer, ssrc: 1, payloadType: 50)
    #expect(section == 0)
  }

  @Test func `a payload type of one section identifies it, one of two does not`() {
    var demultiplexer = makeDemultiplexer()
    let routes = [
      route(&demultiplexer, ssrc: 7, payloadType: 96), route(&demultiplexer, ssrc: 8, payloadType: 100),
      route(&demultiplexer, ssrc: 8, payloadType: 5),
    ]
    #expect(routes == [1, nil, nil])
    #expect(demultiplexer.unroutedCount == 2)
  }

  @Test func `an unknown identification is not guessed at`() {
    var demultiplexer = makeDemultiplexer()
    let section = route(&demultiplexer, ssrc: 1, payloadType: 111, mid: "x")
    #expect(section == nil)
  }

  @Test func `forged sources push out only each other`() {
    var demultiplexer = makeDemultiplexer()
    for ssrc in UInt32(100)..<1_000 { _ = route(&demultiplexer, ssrc: ssrc, payloadType: 111) }
    #expect(demultiplexer.section(ofSource: 100) == nil)
    #expect(demultiplexer.section(ofSource: 999) == 0)
    #expect(demultiplexer.section(ofSource: 1) == 0)
  }

  @Test func `a source that a packet bound stays with its mid in the next negotiation, and no longer`() {
    var demultiplexer = makeDemultiplexer()
    _ = route(&demultiplexer, ssrc: 9, payloadType: 111, mid: "v")
    _ = route(&demultiplexer, ssrc: 10, payloadType: 111, mid: "a")
    demultiplexer.setSections([
      RTPDemultiplexer.Section(mid: [UInt8]("x".utf8), payloadTypes: [111], sources: [2]),
      RTPDemultiplexer.Section(mid: [UInt8]("v".utf8), payloadTypes: [111]),
    ])
    let sections = [1, 2, 9, 10].map { demultiplexer.section(ofSource: $0) }
    #expect(sections == [nil, 0, 1, nil])
    #expect(demultiplexer.sourceCount == 2)
    let ambiguous = route(&demultiplexer, ssrc: 10, payloadType: 111)
    #expect(ambiguous == nil)
  }

  @Test func `an identification moves a source to another section`() {
    var demultiplexer = makeDemultiplexer()
    let routes = [
      route(&demultiplexer, ssrc: 1, payloadType: 111), route(&demultiplexer, ssrc: 1, payloadType: 111, mid: "v"),
      route(&demultiplexer, ssrc: 1, payloadType: 111),
    ]
    #expect(routes == [0, 1, 1])
  }
}
