import CallCore
import RTP
import Testing

@Suite struct RTPRouterTests {
  func makeRouter() -> RTPRouter {
    var router = RTPRouter(midExtensionID: 4)
    router.setSections([
      RTPRouter.Section(mid: [UInt8]("a".utf8), payloadTypes: [111, 100], sources: [.init(1)]),
      RTPRouter.Section(mid: [UInt8]("v".utf8), payloadTypes: [96, 100]),
    ])
    return router
  }

  func route(
    _ router: inout RTPRouter, ssrc: UInt32, payloadType: UInt8, mid: String? = nil
  ) -> Int? {
    var extensions = RTPHeaderExtensions()
    if let mid { extensions.append(id: 4, bytes: [UInt8](mid.utf8).span.bytes) }
    let header = RTPHeader(payloadType: payloadType, sequenceNumber: 1, timestamp: 1, ssrc: ssrc)
    let bytes = written { _ = header.write(into: &$0, extensions: extensions) }
    return RTPPacket(bytes: bytes).flatMap { router.route(of: $0, in: bytes.span.bytes)?.section }
  }

  @Test func `the media identification wins and binds the source`() {
    var router = makeRouter()
    let routes = [
      route(&router, ssrc: 9, payloadType: 111, mid: "v"), route(&router, ssrc: 9, payloadType: 111),
    ]
    #expect(routes == [1, 1])
    #expect(router.route(ofSource: 9)?.section == 1)
  }

  @Test func `a signalled source needs no more`() {
    var router = makeRouter()
    let section = route(&router, ssrc: 1, payloadType: 50)
    #expect(section == 0)
  }

  @Test func `a payload type of one section identifies it, one of two does not`() {
    var router = makeRouter()
    let routes = [
      route(&router, ssrc: 7, payloadType: 96), route(&router, ssrc: 8, payloadType: 100),
      route(&router, ssrc: 8, payloadType: 5),
    ]
    #expect(routes == [1, nil, nil])
    #expect(router.unroutedCount == 2)
  }

  @Test func `what is still on its way when its section ends goes to no other section`() {
    var router = makeRouter()
    let video = RTPRouter.Section(mid: [UInt8]("v".utf8), payloadTypes: [96, 111])
    _ = route(&router, ssrc: 9, payloadType: 111, mid: "a")
    router.setSections([video])
    let routes = [
      route(&router, ssrc: 9, payloadType: 111), route(&router, ssrc: 1, payloadType: 111),
      route(&router, ssrc: 7, payloadType: 111),
    ]
    #expect(routes == [nil, nil, 0])
    #expect(router.unroutedCount == 2)
  }

  @Test func `a source goes on in its section when that receives again`() {
    var router = makeRouter()
    let sections = router.sections
    _ = route(&router, ssrc: 9, payloadType: 100, mid: "a")
    router.setSections([sections[1]])
    router.setSections(sections)
    let section = route(&router, ssrc: 9, payloadType: 100)
    #expect(section == 0)
  }

  @Test func `a source whose section ended is routed where it is signalled or says so`() {
    var router = makeRouter()
    for ssrc in [9, 10] as [UInt32] { _ = route(&router, ssrc: ssrc, payloadType: 111, mid: "a") }
    router.setSections([RTPRouter.Section(mid: [UInt8]("v".utf8), payloadTypes: [96], sources: [.init(9)])])
    let routes = [route(&router, ssrc: 9, payloadType: 96), route(&router, ssrc: 10, payloadType: 96, mid: "v")]
    #expect(routes == [0, 0])
    let again = route(&router, ssrc: 10, payloadType: 96)
    #expect(again == 0)
  }

  @Test func `an unknown identification is not guessed at`() {
    var router = makeRouter()
    let section = route(&router, ssrc: 1, payloadType: 111, mid: "x")
    #expect(section == nil)
  }

  @Test func `forged sources push out only each other`() {
    var router = makeRouter()
    for ssrc in UInt32(100)..<1_000 { _ = route(&router, ssrc: ssrc, payloadType: 111) }
    #expect(router.route(ofSource: 100)?.section == nil)
    #expect(router.route(ofSource: 999)?.section == 0)
    #expect(router.route(ofSource: 1)?.section == 0)
  }

  @Test func `a source that a packet bound stays with its mid in the next negotiation, and no longer`() {
    var router = makeRouter()
    _ = route(&router, ssrc: 9, payloadType: 111, mid: "v")
    _ = route(&router, ssrc: 10, payloadType: 111, mid: "a")
    router.setSections([
      RTPRouter.Section(mid: [UInt8]("x".utf8), payloadTypes: [111], sources: [.init(2)]),
      RTPRouter.Section(mid: [UInt8]("v".utf8), payloadTypes: [111]),
    ])
    let sections = [1, 2, 9, 10].map { router.route(ofSource: $0)?.section }
    #expect(sections == [nil, 0, 1, nil])
    #expect(router.sourceCount == 2)
    let ambiguous = route(&router, ssrc: 10, payloadType: 111)
    #expect(ambiguous == nil)
  }

  @Test func `an identification moves a source to another section`() {
    var router = makeRouter()
    let routes = [
      route(&router, ssrc: 1, payloadType: 111), route(&router, ssrc: 1, payloadType: 111, mid: "v"),
      route(&router, ssrc: 1, payloadType: 111),
    ]
    #expect(routes == [0, 1, 1])
  }
}

/// Sections with encodings (RFC 8852), retransmission and repair.
@Suite struct EncodingRouteTests {
  private static let names = ["h", "l", "x"]
  private static let mids = ["a", "v", "w", "z"]

  /// One audio section and two of video, of which one has two encodings.
  private var sections: [RTPRouter.Section] {
    let audio = RTPRouter.Section(mid: Array("a".utf8), payloadTypes: [111], sources: [.init(1)])
    var plain = RTPRouter.Section(
      mid: Array("v".utf8), payloadTypes: [96], sources: [.init(2), .init(3, role: .retransmission)])
    plain.retransmissionPayloadTypes = [97]
    var simulcast = RTPRouter.Section(mid: Array("w".utf8), payloadTypes: [98, 111])
    simulcast.retransmissionPayloadTypes = [99]
    simulcast.repairPayloadTypes = [100]
    simulcast.rids = ["h", "l"].map { Array($0.utf8) }
    return [audio, plain, simulcast]
  }

  private func makeRouter() -> RTPRouter {
    var router = RTPRouter(midExtensionID: 4)
    router.ridExtensionID = 5
    router.repairedRIDExtensionID = 6
    router.setSections(sections)
    return router
  }

  private struct Packet {
    var ssrc: UInt32
    var payloadType: UInt8
    var mid: String?
    var rid: String?
    var repairedRID: String?
  }

  private func route(_ packet: Packet, by router: inout RTPRouter) -> RTPRouter.Route? {
    var extensions = RTPHeaderExtensions()
    for (id, text) in [(4, packet.mid), (5, packet.rid), (6, packet.repairedRID)] as [(UInt8, String?)] {
      if let text { extensions.append(id: id, bytes: Array(text.utf8).span.bytes) }
    }
    let header = RTPHeader(payloadType: packet.payloadType, sequenceNumber: 1, timestamp: 1, ssrc: packet.ssrc)
    let bytes = written { _ = header.write(into: &$0, extensions: extensions) }
    return RTPPacket(bytes: bytes).flatMap { router.route(of: $0, in: bytes.span.bytes) }
  }

  @Test func `an encoding's name binds its source, and its repaired name the source that retransmits it`() {
    var router = makeRouter()
    let routes = [
      route(Packet(ssrc: 20, payloadType: 98, mid: "w", rid: "l"), by: &router),
      route(Packet(ssrc: 20, payloadType: 98), by: &router),
      route(Packet(ssrc: 21, payloadType: 99, mid: "w", repairedRID: "l"), by: &router),
      route(Packet(ssrc: 21, payloadType: 99), by: &router),
      route(Packet(ssrc: 22, payloadType: 100, mid: "w", repairedRID: "h"), by: &router),
    ]
    #expect(
      routes == [
        .init(section: 2, encoding: 1), .init(section: 2, encoding: 1),
        .init(section: 2, encoding: 1, role: .retransmission), .init(section: 2, encoding: 1, role: .retransmission),
        .init(section: 2, encoding: 0, role: .repair),
      ])
  }

  @Test func `of several encodings none is guessed at`() {
    var router = makeRouter()
    let routes = [
      route(Packet(ssrc: 20, payloadType: 98, mid: "w"), by: &router),
      route(Packet(ssrc: 20, payloadType: 98), by: &router),
      route(Packet(ssrc: 20, payloadType: 98, mid: "w", rid: "x"), by: &router),
      route(Packet(ssrc: 20, payloadType: 98, rid: "h"), by: &router),
    ]
    #expect(routes == [nil, nil, nil, .init(section: 2)])
    #expect(router.unroutedCount == 3)
  }

  @Test func `a retransmission is told by its source, or by its payload type`() {
    var router = makeRouter()
    let routes = [3, 30].map { route(Packet(ssrc: $0, payloadType: 97), by: &router) }
    #expect(routes == [.init(section: 1, role: .retransmission), .init(section: 1, role: .retransmission)])
  }

  /// The rules one after the other, over a table of what is bound.
  private func expected(_ packet: Packet, _ bound: inout [UInt32: RTPRouter.Route]) -> RTPRouter.Route? {
    let name = packet.rid ?? packet.repairedRID
    let known = bound[packet.ssrc]
    func index(_ matches: (RTPRouter.Section) -> Bool) -> Int? {
      let found = sections.indices.filter { matches(sections[$0]) }
      return found.count == 1 ? found[0] : nil
    }
    let section: Int?
    if let mid = packet.mid {
      section = index { $0.mid == Array(mid.utf8) }
    } else if let known {
      section = known.section
    } else if let name, let named = index({ $0.rids.contains(Array(name.utf8)) }) {
      section = named
    } else {
      section = index {
        ($0.payloadTypes + $0.retransmissionPayloadTypes + $0.repairPayloadTypes).contains(packet.payloadType)
      }
    }
    guard let section else { return nil }
    let place = sections[section]
    var role: RTPRouter.Role = place.retransmissionPayloadTypes.contains(packet.payloadType) ? .retransmission : .media
    if place.repairPayloadTypes.contains(packet.payloadType) { role = .repair }
    var route: RTPRouter.Route?
    if let name, !place.rids.isEmpty {
      guard let encoding = place.rids.firstIndex(of: Array(name.utf8)) else { return nil }
      let repairing: RTPRouter.Role = role == .repair ? .repair : .retransmission
      route = RTPRouter.Route(section: section, encoding: encoding, role: packet.rid != nil ? .media : repairing)
    } else if let known, known.section == section {
      route = known
    } else if place.rids.isEmpty {
      route = RTPRouter.Route(section: section, role: role)
    }
    if let route { bound[packet.ssrc] = route }
    return route
  }

  @Test(arguments: 0..<20) func `any packet goes where the rules say`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("routes")
    var router = makeRouter()
    var bound: [UInt32: RTPRouter.Route] = [
      1: .init(section: 0), 2: .init(section: 1), 3: .init(section: 1, role: .retransmission),
    ]
    func one<T>(of all: [T], _ random: inout RandomStream) -> T { all[Int(random.uniform(below: UInt64(all.count)))] }
    for _ in 0..<500 {
      var packet = Packet(
        ssrc: UInt32(1 + random.uniform(below: 30)),
        payloadType: one(of: [96, 97, 98, 99, 100, 111, 50], &random))
      if random.chance(0.3) { packet.mid = one(of: Self.mids, &random) }
      if random.chance(0.3) { packet.rid = one(of: Self.names, &random) }
      if packet.rid == nil, random.chance(0.3) { packet.repairedRID = one(of: Self.names, &random) }
      let found = route(packet, by: &router)
      #expect(found == expected(packet, &bound), "\(packet)")
    }
  }
}
