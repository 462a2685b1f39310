import CallCore
import RTP
import SDP
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

/// RTCP about streams that come, go, are held and lose packets.
@Suite struct ReportingTests {
  /// The RTCP packets of each compound that `a` or `b` sent since an instant; only of an unprotected call.
  private func compounds(_ pair: SessionPair, fromA: Bool, since: Instant = .zero) -> [[RTCPPacket]] {
    pair.sent.filter { $0.fromA == fromA && $0.isMedia && !$0.isRTP && $0.time >= since }.map { datagram in
      var reader = RTCPReader()
      var packets: [RTCPPacket] = []
      while let packet = reader.next(in: datagram.bytes.span.bytes) { packets.append(packet) }
      return packets
    }
  }

  private func call(adjust: @escaping (inout SessionConfiguration) -> Void = { _ in }) throws -> SessionPair {
    let pair = SessionPair {
      $0.protection = .none
      adjust(&$0)
    }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  @Test(arguments: [true, false])
  func `lost packets are asked for and come again, in as little RTCP as was negotiated`(isReduced: Bool) throws {
    let pair = SessionPair {
      $0.protection = .none
      $0.audio.nack = true
    }
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    if !isReduced { offer.sdp.replace("a=rtcp-rsize\r\n", with: "") }
    try pair.answer(offer, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    var (count, lost) = (0, 0)
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isRTP else { return false }
      count += 1
      if count % 25 == 0 { lost += 1 }
      return count % 25 == 0
    }
    pair.run(for: .seconds(2))
    pair.drops = { _ in false }
    pair.run(for: .seconds(1))
    let report = pair.b.session.statistics(at: pair.now)
    #expect(lost > 2)
    #expect(report.first("inbound-rtp")?["packetsLost"] == .integer(0))
    #expect(report.first("inbound-rtp")?["nackCount"] == .integer(Int64(lost)))
    let sent = pair.a.session.statistics(at: pair.now).first("outbound-rtp")
    #expect(sent?["retransmittedPacketsSent"] == .integer(Int64(lost)))
    let requests = compounds(pair, fromA: false).filter {
      $0.contains { if case .genericNACK = $0 { true } else { false } }
    }
    #expect(requests.count == lost)
    for request in requests {
      if isReduced {
        #expect(request.count == 1)
      } else if case .senderReport = request[0], case .sourceDescription(let names) = request[1] {
        #expect(request.count == 3 && names.count == 1)
      } else {
        Issue.record("a NACK that does not begin with a report and a name: \(request)")
      }
    }
  }

  @Test func `where both sides have retransmission streams, what is lost comes again on one`() throws {
    let pair = try call {
      $0.audio.nack = true
      $0.audio.retransmitsOnItsOwnStream = true
    }
    var (count, lost) = (0, 0)
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isRTP else { return false }
      count += 1
      if count % 25 == 0 { lost += 1 }
      return count % 25 == 0
    }
    pair.run(for: .seconds(2))
    pair.drops = { _ in false }
    pair.run(for: .seconds(1))
    let media = try #require(pair.a.sources("outbound-rtp").first)
    let streams = Set(
      pair.sent.filter { $0.fromA && $0.isRTP }.compactMap { $0.bytes.span.bytes.bigEndian(UInt32.self, at: 8) })
    #expect(streams.count == 2 && streams.contains(media))
    let inbound = pair.b.session.statistics(at: pair.now).entries.filter { $0.type == "inbound-rtp" }
    #expect(lost > 2 && inbound.count == 1)
    #expect(inbound.first?["ssrc"] == .integer(Int64(media)) && inbound.first?["packetsLost"] == .integer(0))
    #expect(pair.b.discarded.isEmpty && pair.hotWakes == 0)
  }

  @Test func `a renegotiation begins and ends the repair of loss`() throws {
    let pair = try call { $0.audio.nack = true }
    let lines = { (offer: SessionDescriptionText) in
      SessionDescriptionText(.offer, sdp: offer.sdp.replacing("a=rtcp-fb:111 nack\r\n", with: ""))
    }
    for usesNACK in [false, true] {
      let offer = try pair.a.session.createOffer()
      try pair.a.session.setLocalDescription(offer, at: pair.now)
      try pair.answer(usesNACK ? offer : lines(offer), of: pair.a, by: pair.b)
      pair.run(for: .milliseconds(200))
      let before = pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["packetsLost"]
      var count = 0
      pair.drops = { datagram in
        guard datagram.fromA, datagram.isRTP else { return false }
        count += 1
        return count == 10
      }
      pair.run(for: .seconds(1))
      let after = pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["packetsLost"]
      #expect((before == after) == usesNACK)
    }
  }

  @Test func `a side that is held reports as a receiver, and on a source long silent no more`() throws {
    let pair = try call()
    try pair.a.session.setDirection(.recvonly, of: pair.a.microphone)
    try pair.negotiate()
    pair.run(for: .seconds(16))
    let start = pair.now
    pair.run(for: .seconds(20))
    let (held, sending) = (compounds(pair, fromA: true, since: start), compounds(pair, fromA: false, since: start))
    #expect(held.count > 1 && sending.count > 1)
    for compound in held {
      guard case .receiverReport(let report)? = compound.first else {
        Issue.record("no receiver report: \(compound)")
        continue
      }
      #expect(report.blocks.count == 1)
    }
    for compound in sending {
      guard case .senderReport(let report)? = compound.first else {
        Issue.record("no sender report: \(compound)")
        continue
      }
      #expect(report.blocks.isEmpty)
    }
    // And both as before once the hold is over.
    try pair.a.session.setDirection(.sendrecv, of: pair.a.microphone)
    try pair.negotiate()
    pair.run(for: .seconds(16))
    guard case .senderReport(let report)? = compounds(pair, fromA: true).last?.first else {
      Issue.record("no sender report after the hold")
      return
    }
    #expect(report.blocks.count == 1)
  }

  @Test func `what a report says of our stream is told before a round trip is known`() throws {
    let pair = try call()
    pair.run(for: .seconds(12))
    let remote = pair.a.session.statistics(at: pair.now).first("remote-inbound-rtp")
    #expect(remote?["jitter"] != nil && remote?["fractionLost"] == .real(0))
    // A block that answers no report of ours, as before the first one: no round trip, but all else.
    let other = SessionPair { $0.protection = .none }
    try other.negotiate()
    other.run(for: .milliseconds(500))
    let ssrc = try #require(other.a.sources("outbound-rtp").first)
    let block = ReportBlock(
      ssrc: ssrc, fractionLost: 0, cumulativeLost: 0, highestSequenceNumber: 1, jitter: 48, lastSenderReport: 0,
      delaySinceLastSenderReport: 0)
    let bytes = [UInt8](unsafeUninitializedCapacity: 200) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      _ = RTCPPacket.receiverReport(ReceiverReport(ssrc: 9, blocks: [block])).write(into: &output)
      count = output.finalize(for: buffer)
    }
    let path = Path(local: other.a.interface.socket, remote: other.b.interface.socket)
    other.a.session.receive(bytes.span.bytes, on: path, at: other.now)
    let early = other.a.session.statistics(at: other.now).first("remote-inbound-rtp")
    #expect(early?["jitter"] == .real(0.001) && early?["roundTripTime"] == nil)
  }

  @Test func `an outage is a gap that libwebrtc counts no loss for, and shorter ones are loss`() throws {
    for (milliseconds, lost) in [(400 as Int64, 20 as Int64), (2_000, 0)] {
      let pair = try call()
      pair.drops = { $0.fromA && $0.isRTP }
      pair.run(for: .milliseconds(milliseconds))
      pair.drops = { _ in false }
      pair.run(for: .seconds(1))
      let inbound = pair.b.session.statistics(at: pair.now).first("inbound-rtp")
      #expect(inbound?["packetsLost"] == .integer(lost))
      #expect(inbound?["packetsReceived"] == .integer(Int64(pair.b.mediaReceived)))
    }
  }
}
