import CallCore
import CongestionControl
import RTP
import Testing

/// Patterns 35, 37, 40 and 42: what a receiver asks for, whom it believes, and where it takes packets from.
@Suite struct FeedbackPatternTests {
  private func makeSender(ssrc: UInt32 = 5, payloadType: UInt8 = 111) -> RTPSender {
    var settings = RTPSender.Settings(payloadType: payloadType, clockRate: 48_000)
    settings.keepsHistory = true
    return RTPSender(ssrc: ssrc, settings: settings, random: RandomSource(seed: 3).stream("rtp/\(ssrc)"))
  }

  private func packet(
    of sender: inout RTPSender, _ index: Int, at now: Instant, extensions: RTPHeaderExtensions = RTPHeaderExtensions()
  ) -> [UInt8] {
    let payload = [UInt8](repeating: 1, count: 80)
    return [UInt8](unsafeUninitializedCapacity: maximumDatagramSize) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      let header = sender.packetize(
        payload: payload.span.bytes, mediaTime: UInt32(index) * 960, extensions: extensions, into: &output)
      if let header {
        let packet = OutgoingPacket(header: header, headerSize: output.count - payload.count, captured: now)
        sender.departed(packet, output.span.bytes, at: now)
      }
      count = output.finalize(for: buffer)
    }
  }

  /// A receiver of a stream of 20 ms packets of which some are lost, polled every 5 ms: what it asked for.
  private func requests(
    packets: Int, roundTrip: Interval, isLost: (Int) -> Bool
  ) -> [(at: Instant, numbers: [UInt16])] {
    var sender = makeSender()
    var settings = RTPReceiver.Settings(clockRate: 48_000)
    settings.nack = NACKGenerator.Settings()
    var receiver = RTPReceiver(ssrc: 5, settings: settings)
    var requests: [(at: Instant, numbers: [UInt16])] = []
    for step in 0..<packets * 4 {
      let now = Instant.zero + .milliseconds(5) * Int64(step)
      if step % 4 == 0 {
        let bytes = packet(of: &sender, step / 4, at: now)
        if !isLost(step / 4), let parsed = RTPPacket(parsing: bytes.span.bytes) {
          _ = receiver.receive(parsed, at: now)
        }
      }
      if let nack = receiver.takeNACK(from: 9, roundTrip: roundTrip, at: now) {
        requests.append((now, nack.sequenceNumbers))
      }
    }
    return requests
  }

  @Test func `35 - a gap of many seconds starts no storm`() throws {
    try proves(.hugeGapRequested) { claims in
      let requests = requests(packets: 2_600, roundTrip: .milliseconds(60)) { (100..<2_500).contains($0) }
      let asked = requests.map(\.numbers.count).reduce(0, +)
      claims("nobody asks for \(asked) packets", asked <= 250)
    }
  }

  @Test func `35 - nothing is asked for again before the answer can have come`() throws {
    try proves(.nackFasterThanRoundTrip) { claims in
      let requests = requests(packets: 200, roundTrip: .milliseconds(200)) { $0 == 50 }
      claims("the loss is asked for", !requests.isEmpty)
      let gaps = zip(requests.dropFirst(), requests).map { $0.at - $1.at }
      claims("with at least a round trip in between", gaps.allSatisfy { $0 >= .milliseconds(200) })
    }
  }

  @Test func `35 - retransmissions leave at the pacing rate, whatever is asked for at once`() throws {
    try proves(.retransmissionsUnpaced) { claims in
      var sender = makeSender()
      let roundTrip = Instant.zero + .milliseconds(100)
      let first = packet(of: &sender, 0, at: .zero)
      for index in 1..<200 { _ = packet(of: &sender, index, at: .zero) }
      let number = UInt16(first[2]) << 8 | UInt16(first[3])
      for start in stride(from: 0, to: 200, by: 50) as StrideTo<UInt16> {
        sender.receive(
          GenericNACK(senderSSRC: 9, mediaSSRC: 5, sequenceNumbers: (start..<start + 50).map { number &+ $0 }))
        var pacer = Pacer(settings: Pacer.Settings(rate: .kilobitsPerSecond(80)))
        while sender.isAskedAgain,
          pacer.enqueue(.retransmission, at: roundTrip, write: { sender.takeRetransmission(into: &$0, at: roundTrip) })
        {}
        let leaving = departures(from: &pacer, at: roundTrip)
        // 40 ms of 80 kbit/s are 400 bytes, and the packet that goes beyond.
        claims("\(leaving) of 50 packets of 92 bytes leave at once", (1...5).contains(leaving))
        claims("the others wait", pacer.count == 50 - leaving && pacer.deadline.map { $0 > roundTrip } == true)
      }
    }
  }

  private func departures(from pacer: inout Pacer, at now: Instant) -> Int {
    var count = 0
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    while true {
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      let packet = pacer.next(into: &output, at: now)
      _ = output.finalize(for: memory)
      if packet == nil { return count }
      count += 1
    }
  }

  /// Packets of a sender that leave 20 ms apart from a first number on, of which one comes after all others but two: what
  /// the sender is told of each in the end.
  private func fates(first: UInt16, count: Int, late: Int) -> [Bool] {
    var sequencer = TransportSequencer(first: first)
    var recorder = ArrivalRecorder()
    var results: [TransportSequencer.Result] = []
    var fates = Array(repeating: false, count: count)
    var numbers: [UInt16] = []
    func report(at now: Instant) {
      while let feedback = recorder.takeFeedback(from: 1, at: now) { sequencer.receive(feedback, into: &results) }
      for result in results where result.arrived != nil { fates[Int((result.sent - .zero).milliseconds / 20)] = true }
      results = []
    }
    for index in 0..<count {
      let now = Instant.zero + .milliseconds(20) * Int64(index)
      numbers.append(sequencer.assign(byteCount: 100, at: now))
      if index != late { recorder.record(numbers[index], from: 5, at: now) }
      if index == late + 8 { recorder.record(numbers[late], from: 5, at: now) }
      report(at: now)
    }
    report(at: .zero + .seconds(3_600))
    return fates
  }

  @Test func `37 - a packet that comes late is told of, though it was told of as missing`() throws {
    try proves(.lateArrivalNotTold) { claims in
      claims("all have arrived", !fates(first: 1, count: 60, late: 20).contains(false))
    }
  }

  @Test func `37 - a packet that was told of as missing and has come is not lost`() throws {
    try proves(.missingIsLostForEver) { claims in
      claims("all have arrived", !fates(first: 1, count: 60, late: 20).contains(false))
    }
  }

  @Test func `37 - numbers are followed over their wrap, from wherever they begin`() throws {
    try proves(.feedbackNumbersNotExtended) { claims in
      for first in [1, 32_768, 40_000, 65_500] as [UInt16] {
        claims("all from \(first) have arrived", !fates(first: first, count: 200, late: 500).contains(false))
      }
    }
  }

  @Test func `37 - arrivals further apart than a delta can say are told of in another feedback`() throws {
    try proves(.feedbackDeltaOverflows) { claims in
      let start = Instant.zero + .seconds(3)
      var builder = TransportFeedback.Builder(
        firstNumber: 7, arrival: start, senderSSRC: 1, mediaSSRC: 2, feedbackNumber: 0)
      claims("the first is taken", builder.append(index: 0, at: start))
      claims("8 s later a delta still says it", builder.append(index: 1, at: start + .seconds(8)))
      claims("8.2 s later it does not", !builder.append(index: 2, at: start + .milliseconds(16_200)))
      let total = builder.feedback.arrivals.reduce(0) { $0 + Int($1.delta) }
      let reference = Interval(nanoseconds: 64_000_000) * Int64(builder.feedback.referenceTime)
      claims("and no time is told wrong", reference + TransportFeedback.tick * Int64(total) == .seconds(11))
    }
  }

  @Test func `40 - a sender report out of order spoils neither lip-sync nor round trip`() throws {
    try proves(.staleSenderReportBelieved) { claims in
      var sender = makeSender()
      var receiver = RTPReceiver(ssrc: 5, settings: .init(clockRate: 48_000))
      let clock = WallClock()
      var reports: [SenderReport] = []
      for index in 0..<500 {
        let now = Instant.zero + .milliseconds(20) * Int64(index)
        let bytes = packet(of: &sender, index, at: now)
        if let parsed = RTPPacket(parsing: bytes.span.bytes) { _ = receiver.receive(parsed, at: now) }
        // A report every two seconds; half-way the clock is set right, so that the older one says otherwise.
        if index == 200 || index == 400 {
          let skewed = WallClock(skew: index == 200 ? .seconds(-3) : .zero)
          if let report = sender.senderReport(clock: skewed, at: now) { reports.append(report) }
        }
      }
      let (older, newer) = (try #require(reports.first), try #require(reports.last))
      let now = Instant.zero + .seconds(10)
      receiver.receive(newer, at: now)
      receiver.receive(older, at: now + .milliseconds(5))
      let found = receiver.captureTime(of: newer.rtpTimestamp)
      let capture = try #require(found)
      claims("media is timed by the newer report", capture == NTPTime(clock, at: .zero + .seconds(8)))
      let blockFound = receiver.takeReportBlock(at: now + .seconds(1))
      claims("and so is the round trip", blockFound?.lastSenderReport == newer.ntpTime.middle)
    }
  }

  @Test func `42 - a source is heard where the MID of its first packets says`() throws {
    try proves(.midNotLookedAt) { claims in
      var router = RTPRouter(midExtensionID: 4)
      // Two microphones with one codec: nothing but the MID tells their sources apart.
      router.setSections(
        ["0", "1"].map { RTPRouter.Section(mid: Array($0.utf8), payloadTypes: [111]) })
      for (section, ssrc) in [5, 6].enumerated() as EnumeratedSequence<[UInt32]> {
        var sender = makeSender(ssrc: ssrc)
        for index in 0..<10 {
          var extensions = RTPHeaderExtensions()
          // It is left out once the far side has reported on the source.
          if index < 5 { extensions.append(id: 4, bytes: Array("\(section)".utf8).span.bytes) }
          let bytes = packet(of: &sender, index, at: .zero, extensions: extensions)
          let parsing = RTPPacket(parsing: bytes.span.bytes)
          let parsed = try #require(parsing)
          let found = router.route(of: parsed, in: bytes.span.bytes)?.section
          claims("packet \(index) of source \(ssrc)", found == section)
        }
      }
    }
  }

  @Test func `42 - a source that names only its encoding is nobody's where two sections have one of that name`() throws
  {
    try proves(.encodingNameOfAnySection) { claims in
      var router = RTPRouter(midExtensionID: 4)
      router.ridExtensionID = 5
      router.setSections(
        ["0", "1"].map { mid in
          var section = RTPRouter.Section(mid: Array(mid.utf8), payloadTypes: [96])
          section.rids = [Array("h".utf8), Array("l".utf8)]
          return section
        })
      for (mid, expected) in [(nil, nil), ("1", 1), (nil, 1)] as [(String?, Int?)] {
        var sender = makeSender(ssrc: 7, payloadType: 96)
        var extensions = RTPHeaderExtensions()
        if let mid { extensions.append(id: 4, bytes: Array(mid.utf8).span.bytes) }
        extensions.append(id: 5, bytes: Array("l".utf8).span.bytes)
        let bytes = packet(of: &sender, 0, at: .zero, extensions: extensions)
        let found = RTPPacket(parsing: bytes.span.bytes)
        let parsed = try #require(found)
        let route = router.route(of: parsed, in: bytes.span.bytes)
        claims("with mid \(mid ?? "none")", route?.section == expected && (route == nil || route?.encoding == 1))
      }
    }
  }

  @Test func `42 - a section hears its new source when the old one falls silent`() throws {
    try proves(.changedSourceDropped) { claims in
      var router = RTPRouter()
      router.setSections([
        RTPRouter.Section(mid: Array("0".utf8), payloadTypes: [111]),
        RTPRouter.Section(mid: Array("1".utf8), payloadTypes: [96]),
      ])
      // The far side's microphone is replaced in the middle of the call; neither source was signalled.
      for ssrc in [5, 6] as [UInt32] {
        var sender = makeSender(ssrc: ssrc)
        for index in 0..<10 {
          let bytes = packet(of: &sender, index, at: .zero)
          let found = RTPPacket(parsing: bytes.span.bytes)
          let parsed = try #require(found)
          let section = router.route(of: parsed, in: bytes.span.bytes)?.section
          claims("source \(ssrc) is the microphone", section == 0)
        }
      }
    }
  }
}
