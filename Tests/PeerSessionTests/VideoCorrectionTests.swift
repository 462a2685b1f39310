import CallCore
import PeerSession
import Pictures
import RTP
import SDP
import StackWorlds
import Statistics
import Testing

/// Forward error correction of video: negotiation, amount, packets and recovery.
@Suite struct VideoCorrectionTests {
  typealias Scheme = VideoSettings.ForwardErrorCorrection

  private func pair(
    _ scheme: Scheme, delay: Int64 = 100, adjust: (inout VideoSettings) -> Void = { _ in }
  ) throws -> SessionPair {
    var video = VideoSettings()
    video.forwardErrorCorrection = scheme
    adjust(&video)
    let pair = SessionPair {
      $0.protection = .none
      $0.video = video
    }
    pair.delay = .milliseconds(delay)
    try pair.a.session.addTrack(.camera)
    pair.a.camera = GeneratedVideo(.movingBars, size: PictureSize(video.width, video.height)!)
    return pair
  }

  /// Loses every packet of video with this chance, without those that `spare` says.
  private func lose(
    _ pair: SessionPair, _ chance: Double, seed: UInt64 = 5, spare: @escaping (RTPPacket) -> Bool = { _ in false }
  ) {
    var random = RandomStream(seed: seed)
    pair.drops = { sent in
      guard let packet = video(sent), !spare(packet) else { return false }
      return random.chance(chance)
    }
  }

  /// The packet of A's video in a datagram: audio is shorter.
  private func video(_ sent: SessionPair.Sent) -> RTPPacket? {
    guard sent.fromA, sent.isRTP, let packet = RTPPacket(parsing: sent.bytes.span.bytes),
      Self.videoTypes.contains(packet.header.payloadType)
    else { return nil }
    return packet
  }

  private static let (red, ulpfec, flexFEC, redRTX): (UInt8, UInt8, UInt8, UInt8) = (118, 120, 49, 119)
  private static let videoTypes: Set<UInt8> = [96, 97, 98, 99, 102, 103, red, redRTX, flexFEC]

  private func isRepair(_ sent: SessionPair.Sent) -> Bool {
    guard let packet = video(sent) else { return false }
    if packet.header.payloadType == Self.flexFEC { return true }
    return packet.header.payloadType == Self.red && sent.bytes[packet.payloadRange.lowerBound] == Self.ulpfec
  }

  private func inbound(_ pair: SessionPair) throws -> StatsReport.Entry {
    try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp", kind: "video"))
  }

  private func count(_ entry: StatsReport.Entry, _ member: String) -> Int64 {
    if case .integer(let value)? = entry[member] { value } else { 0 }
  }

  private func recovered(_ pair: SessionPair) -> Int {
    pair.b.observations.count { if case .mediaRecovered = $0 { true } else { false } }
  }

  // MARK: Negotiation

  @Test func `nothing is offered unless it is asked for`() throws {
    let offer = try pair(.none).a.session.createOffer().sdp
    for name in ["red/", "ulpfec/", "flexfec", "FEC-FR"] { #expect(!offer.contains(name)) }
  }

  @Test func `ULPFEC is offered with RED and its retransmission, as browsers do`() throws {
    let offer = try pair(.ulpfec).a.session.createOffer().sdp
    for line in ["rtpmap:118 red/90000", "rtpmap:119 rtx/90000", "fmtp:119 apt=118", "rtpmap:120 ulpfec/90000"] {
      #expect(offer.contains("a=\(line)\r\n"))
    }
    #expect(!offer.contains("a=fmtp:118"))
  }

  @Test func `FlexFEC is offered with its source`() throws {
    let offer = try pair(.flexfec).a.session.createOffer().sdp
    #expect(offer.contains("a=rtpmap:49 flexfec-03/90000\r\n"))
    #expect(offer.contains("a=fmtp:49 repair-window=10000000\r\n"))
    #expect(offer.contains("a=ssrc-group:FEC-FR ") && offer.contains("a=ssrc-group:FID "))
  }

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `a peer without the scheme answers without it, and pictures go on`(
    _ scheme: Scheme
  ) throws {
    let pair = try pair(scheme)
    pair.replaceB {
      $0.protection = .none
      $0.video = VideoSettings()
    }
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(4))
    let answer = try #require(pair.b.session.localDescription?.sdp)
    for name in ["red/", "ulpfec/", "flexfec"] { #expect(!answer.contains(name)) }
    #expect(pair.b.shown.count > 60)
    #expect(!pair.sent.contains(where: isRepair))
    #expect(!pair.sent.contains { video($0)?.header.payloadType == Self.red })
  }

  @Test func `RED without ULPFEC is not answered`() throws {
    let pair = try pair(.ulpfec)
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    offer.sdp = offer.sdp.replacing("a=rtpmap:120 ulpfec/90000\r\n", with: "").replacing(
      " 118 119 120\r", with: " 118 119\r")
    try pair.answer(offer, of: pair.a, by: pair.b)
    #expect(pair.b.session.localDescription?.sdp.contains("red/90000") == false)
  }

  @Test func `beside NACK a codec without numbered frames is sent without ULPFEC`() throws {
    let pair = try pair(.ulpfec) { $0.codecs = [.h264] }
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(4))
    #expect(pair.b.shown.count > 60)
    #expect(!pair.sent.contains(where: isRepair))
  }

  // MARK: Amount

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `without loss there are no repair packets`(_ scheme: Scheme) throws {
    let pair = try pair(scheme)
    try pair.negotiate()
    pair.run(for: .seconds(4))
    #expect(pair.b.shown.count > 90)
    #expect(!pair.sent.contains(where: isRepair))
  }

  @Test func `below 20 ms of round trip delta frames are left to retransmission`() throws {
    let pair = try pair(.ulpfec, delay: 5)
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(3))
    let start = pair.now
    pair.run(for: .seconds(3))
    #expect(!pair.sent.contains { $0.time >= start && isRepair($0) })
  }

  @Test func `some time after the last loss there are no repair packets`() throws {
    let pair = try pair(.ulpfec)
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(6))
    #expect(pair.sent.contains(where: isRepair))
    pair.drops = { _ in false }
    pair.run(for: .seconds(14))
    let start = pair.now
    pair.run(for: .seconds(2))
    #expect(!pair.sent.contains { $0.time >= start && isRepair($0) })
  }

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `the encoder gives up what repair packets take`(_ scheme: Scheme) throws {
    /// The rates of everything but padding and retransmissions, and of repair packets, in kbit/s.
    func rates(_ scheme: Scheme) throws -> (all: Int, repair: Int) {
      let pair = try pair(scheme)
      pair.rate = .kilobitsPerSecond(500)
      try pair.negotiate()
      lose(pair, 0.05)
      pair.run(for: .seconds(10))
      let start = pair.now
      pair.run(for: .seconds(5))
      let own: Set<UInt8> = [96, Self.red, Self.flexFEC]
      let packets = pair.sent.filter { $0.time >= start && own.contains(video($0)?.header.payloadType ?? 0) }
      func rate(_ packets: [SessionPair.Sent]) -> Int { packets.reduce(0) { $0 + $1.bytes.count + 38 } * 8 / 5_000 }
      return (rate(packets), rate(packets.filter(isRepair)))
    }
    let (with, without) = (try rates(scheme), try rates(.none))
    #expect(with.repair > with.all / 10)
    // Media alone take less than without repair, and both together no more than the link has.
    #expect(with.all - with.repair < without.all, "\(with) and \(without)")
    #expect(with.all < 500, "\(with)")
  }

  // MARK: Packets

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `repair packets have transport-wide numbers and are no larger than others`(
    _ scheme: Scheme
  ) throws {
    let pair = try pair(scheme)
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(4))
    let repairs = pair.sent.filter(isRepair)
    #expect(repairs.count > 20)
    let id = try #require(number(pair))
    for sent in repairs {
      #expect(video(sent)?.transportSequenceNumber(id: id, in: sent.bytes.span.bytes) != nil)
      #expect(sent.bytes.count <= 1_200)
    }
  }

  private func number(_ pair: SessionPair) -> UInt8? {
    let sdp = pair.a.session.localDescription?.sdp ?? ""
    let line = sdp.split(separator: "\r\n").first { $0.contains("transport-wide-cc") }
    return line.flatMap { UInt8($0.dropFirst("a=extmap:".count).prefix { $0.isNumber }) }
  }

  @Test func `what was inside RED is sent again on the stream for RED`() throws {
    let pair = try pair(.ulpfec, delay: 5)
    try pair.negotiate()
    lose(pair, 0.05) { $0.header.payloadType == Self.redRTX }
    pair.run(for: .seconds(4))
    #expect(pair.sent.contains { video($0)?.header.payloadType == Self.redRTX })
    #expect(pair.b.shown.count > 100)
    #expect(try count(inbound(pair), "retransmittedPacketsReceived") > 10)
  }

  // MARK: Recovery

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `lost packets come back without a retransmission`(_ scheme: Scheme) throws {
    let pair = try pair(scheme) { $0.nack = false }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    lose(pair, 0.05)
    pair.run(for: .seconds(8))
    let entry = try inbound(pair)
    let lost = count(entry, "packetsLost")
    #expect(lost > 20)
    #expect(Int64(recovered(pair)) > lost / 2)
    #expect(count(entry, "fecPacketsReceived") >= Int64(recovered(pair)))
    #expect(count(entry, "fecPacketsReceived") > count(entry, "fecPacketsDiscarded"))
    #expect(count(entry, "fecBytesReceived") > 100 * count(entry, "fecPacketsReceived"))
    #expect((entry["fecSsrc"] != nil) == (scheme == .flexfec))
  }

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `a recovered packet is not requested again`(_ scheme: Scheme) throws {
    let pair = try pair(scheme)
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(5))
    pair.drops = { _ in false }
    pair.run(for: .seconds(1))
    // One packet in the middle of a frame, and everything that would send it again.
    var number: UInt16?
    pair.drops = { sent in
      guard let packet = video(sent) else { return false }
      if [97, Self.redRTX].contains(packet.header.payloadType) { return true }
      guard number == nil, !packet.header.marker, !isRepair(sent) else { return false }
      number = packet.header.sequenceNumber
      return true
    }
    let (before, start) = (recovered(pair), pair.now)
    pair.run(for: .seconds(2))
    #expect(recovered(pair) == before + 1)
    let requests = nacks(pair, since: start).filter { $0.contains(number!) }
    #expect(requests.count <= 1)
  }

  private func nacks(_ pair: SessionPair, since start: Instant) -> [[UInt16]] {
    pair.sent.filter { !$0.fromA && $0.isMedia && !$0.isRTP && $0.time >= start }.flatMap { datagram in
      var reader = RTCPReader()
      var found: [[UInt16]] = []
      while let packet = reader.next(in: datagram.bytes.span.bytes) {
        if case .genericNACK(let nack) = packet { found.append(Array(nack.sequenceNumbers)) }
      }
      return found
    }
  }

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `at a long round trip pictures freeze less than by NACK alone`(
    _ scheme: Scheme
  ) throws {
    func freezes(_ scheme: Scheme) throws -> Double {
      var total = 0.0
      for seed in 1...2 as ClosedRange<UInt64> {
        let pair = try pair(scheme, delay: 100)
        try pair.negotiate()
        lose(pair, 0.05, seed: seed)
        pair.run(for: .seconds(15))
        guard case .real(let seconds)? = try inbound(pair)["totalFreezesDuration"] else { continue }
        total += seconds
      }
      return total
    }
    let (with, without) = (try freezes(scheme), try freezes(.none))
    #expect(with < without / 2, "\(with) and \(without)")
  }

  @Test(arguments: [Scheme.ulpfec, .flexfec])
  func `the scheme is kept over a renegotiation, with its numbers`(
    _ scheme: Scheme
  ) throws {
    let pair = try pair(scheme)
    try pair.negotiate()
    lose(pair, 0.05)
    pair.run(for: .seconds(4))
    try pair.negotiate(from: pair.b, to: pair.a)
    let before = recovered(pair)
    pair.run(for: .seconds(4))
    #expect(recovered(pair) > before + 10)
    #expect(pair.hotWakes == 0)
  }
}
