import CallCore
import RTP
import Testing

@Suite struct RTPStreamTests {
  let clock = WallClock()

  func makeSender(keepsHistory: Bool = false, firstSequence: UInt16? = nil) -> RTPSender {
    var settings = RTPSender.Settings(payloadType: 111, clockRate: 48_000)
    settings.keepsHistory = keepsHistory
    settings.initialSequenceNumber = firstSequence
    return RTPSender(ssrc: 5, settings: settings, random: RandomStream(seed: 4))
  }

  func send(_ sender: inout RTPSender, _ index: Int, extensions: RTPHeaderExtensions = .init()) -> [UInt8] {
    let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 80)
    let now = Instant.milliseconds(Int64(index) * 20)
    return written { output in
      let header = sender.packetize(
        payload: payload.span.bytes, mediaTime: UInt32(index) * 960, extensions: extensions, into: &output)
      guard let header else { return }
      let packet = OutgoingPacket(header: header, headerSize: output.count - payload.count, captured: now)
      sender.departed(packet, output.span.bytes, at: now)
    }
  }

  @Test func `numbers and timestamps start at random and count up`() throws {
    var sender = makeSender()
    let packets = (0..<3).map { send(&sender, $0) }.compactMap { RTPPacket(bytes: $0) }
    try #require(packets.count == 3)
    #expect(packets[0].header.sequenceNumber < 1 << 15)
    #expect(packets[2].header.sequenceNumber == packets[0].header.sequenceNumber + 2)
    #expect(packets[2].header.timestamp &- packets[0].header.timestamp == 1_920)
    #expect(sender.outbound.packetsSent == 3)
    #expect(sender.outbound.bytesSent == 240)
    #expect(sender.outbound.headerBytesSent == 36)
  }

  @Test func `a sender report ties the wall clock to the media clock`() throws {
    var sender = makeSender()
    let before = sender.senderReport(clock: clock, at: .zero)
    #expect(before == nil)
    let packetFound = RTPPacket(bytes: send(&sender, 0))
    let packet = try #require(packetFound)
    let now = Instant.milliseconds(10)
    let reportFound = sender.senderReport(clock: clock, at: now)
    let report = try #require(reportFound)
    #expect(report.rtpTimestamp == packet.header.timestamp &+ 480)
    #expect(report.ntpTime == NTPTime(clock, at: now))
    #expect(report.packetCount == 1)
    #expect(report.octetCount == 80)
  }

  @Test func `a stream is a sender's until two reports have left without a packet`() {
    var sender = makeSender()
    let before = sender.hasSentLately
    _ = send(&sender, 0)
    let lately = (0..<3).map { _ in
      defer { sender.endReportInterval() }
      return sender.hasSentLately
    }
    #expect(!before && lately == [true, true, false])
    _ = send(&sender, 1)
    let again = sender.hasSentLately
    #expect(again)
  }

  @Test func `an NTP time is told in milliseconds since 1970`() {
    let time = NTPTime(rawValue: (2_208_988_800 + 86_400) << 32 | 1 << 31)
    #expect(time.unixMilliseconds == 86_400_500)
    #expect(NTPTime(rawValue: 0).unixMilliseconds == nil)
  }

  @Test func `a report block yields the round trip`() throws {
    var sender = makeSender()
    var receiver = RTPReceiver(ssrc: 5, settings: .init(clockRate: 48_000))
    let packetFound = RTPPacket(bytes: send(&sender, 0))
    let packet = try #require(packetFound)
    _ = receiver.receive(packet, at: .milliseconds(40))
    let reportFound = sender.senderReport(clock: clock, at: .milliseconds(1_000))
    let report = try #require(reportFound)
    receiver.receive(report, at: .milliseconds(1_040))
    let blockFound = receiver.takeReportBlock(at: .milliseconds(3_040))
    let block = try #require(blockFound)
    sender.receive(block, clock: clock, at: .milliseconds(3_100))
    let roundTripFound = sender.remoteInbound.roundTripTime
    let roundTrip = try #require(roundTripFound)
    #expect(abs(roundTrip.seconds - 0.1) < 0.0001)
    #expect(sender.remoteInbound.roundTripTimeMeasurements == 1)
    #expect(sender.remoteInbound.packetsLost == 0)
  }

  @Test func `a block about another stream or without a report measures nothing`() {
    var sender = makeSender()
    var block = ReportBlock(
      ssrc: 6, fractionLost: 128, cumulativeLost: 9, highestSequenceNumber: 1, jitter: 1, lastSenderReport: 1,
      delaySinceLastSenderReport: 0)
    sender.receive(block, clock: clock, at: .zero)
    #expect(sender.remoteInbound == RemoteInboundRTPStatistics())
    block.ssrc = 5
    block.lastSenderReport = 0
    sender.receive(block, clock: clock, at: .zero)
    #expect(sender.remoteInbound.fractionLost == 0.5)
    #expect(sender.remoteInbound.roundTripTime == nil)
  }

  @Test func `a sender report out of order is ignored`() throws {
    var receiver = RTPReceiver(ssrc: 5, settings: .init(clockRate: 48_000))
    func report(_ second: UInt64, rtp: UInt32) -> SenderReport {
      SenderReport(
        ssrc: 5, ntpTime: NTPTime(rawValue: second << 32), rtpTimestamp: rtp, packetCount: UInt32(second), octetCount: 0
      )
    }
    receiver.receive(report(100, rtp: 48_000), at: .zero)
    receiver.receive(report(99, rtp: 0), at: .zero)
    #expect(receiver.remoteOutbound.packetsSent == 100)
    #expect(receiver.staleSenderReportCount == 1)
    let captureFound = receiver.captureTime(of: 24_000)
    let capture = try #require(captureFound)
    #expect(capture.rawValue == (UInt64(199) << 32) / 2)
    // The sender's wall clock was set back, but its media went on.
    receiver.receive(report(50, rtp: 96_000), at: .zero)
    #expect(receiver.remoteOutbound.packetsSent == 50)
  }

  /// The next packet asked for again, as it leaves; nothing when there is none.
  func resend(_ sender: inout RTPSender, at now: Instant) -> [UInt8] {
    written { output in
      if let packet = sender.takeRetransmission(into: &output, at: now) {
        sender.departed(packet, output.span.bytes, at: now)
      }
    }
  }

  @Test func `a NACK is answered with the packet as it was, once a round trip`() throws {
    var sender = makeSender(keepsHistory: true, firstSequence: 65_530)
    var extensions = RTPHeaderExtensions()
    extensions.append(id: 1, byte: 1)
    let sent = (0..<10).map { send(&sender, $0, extensions: extensions) }
    let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 5, sequenceNumbers: [65_533, 1, 1, 40])
    sender.receive(nack)
    var again: [[UInt8]] = []
    while true {
      let bytes = resend(&sender, at: .milliseconds(300))
      if bytes.isEmpty { break }
      again.append(bytes)
    }
    #expect(again == [sent[3], sent[7]])
    #expect(sender.outbound.retransmittedPacketsSent == 2)
    #expect(sender.outbound.retransmittedBytesSent == 160)
    #expect(sender.outbound.nackCount == 1)
  }

  @Test func `packets older than the history's age are not sent again`() {
    var sender = makeSender(keepsHistory: true, firstSequence: 0)
    _ = send(&sender, 0)
    sender.receive(GenericNACK(senderSSRC: 1, mediaSSRC: 5, sequenceNumbers: [0]))
    let bytes = resend(&sender, at: .milliseconds(1_001))
    #expect(bytes.isEmpty)
  }

  @Test(arguments: [1, 2, 3]) func `so many NACK rounds leave the loss to the power of one more`(rounds: Int) {
    var random = RandomSource(seed: 9).stream("loss")
    var sender = makeSender(keepsHistory: true, firstSequence: 65_000)
    var settings = RTPReceiver.Settings(clockRate: 48_000)
    settings.nack = NACKGenerator.Settings()
    settings.nack?.maximumRequests = rounds
    var receiver = RTPReceiver(ssrc: 5, settings: settings)
    let (count, probability) = (20_000, 0.2)
    for index in 0..<count {
      let bytes = send(&sender, index)
      let now = Instant.milliseconds(Int64(index) * 20)
      if index > 0, random.chance(probability) { continue }
      if let packet = RTPPacket(bytes: bytes) { _ = receiver.receive(packet, at: now) }
      guard let nack = receiver.takeNACK(from: 1, roundTrip: .milliseconds(10), at: now) else { continue }
      sender.receive(nack)
      for _ in nack.sequenceNumbers {
        let again = resend(&sender, at: now)
        if random.chance(probability) { continue }
        if let packet = RTPPacket(bytes: again) { _ = receiver.receive(packet, at: now) }
      }
    }
    let residual = Double(receiver.inbound.packetsLost) / Double(count)
    let expected = (0..<rounds).reduce(probability) { left, _ in left * probability }
    #expect(abs(residual - expected) < 3 * (expected * (1 - expected) / Double(count)).squareRoot())
  }

  @Test func `congestion marks are counted`() throws {
    var sender = makeSender()
    var receiver = RTPReceiver(ssrc: 5, settings: .init(clockRate: 48_000))
    for (index, ecn) in [ECN.notECT, .ect1, .ce, .ect0].enumerated() {
      let packetFound = RTPPacket(bytes: send(&sender, index))
      let packet = try #require(packetFound)
      _ = receiver.receive(packet, ecn: ecn, at: .milliseconds(Int64(index) * 20))
    }
    #expect(receiver.inbound.packetsReceivedWithEct1 == 1)
    #expect(receiver.inbound.packetsReceivedWithCe == 1)
    #expect(receiver.inbound.bytesReceived == 320)
  }
}
