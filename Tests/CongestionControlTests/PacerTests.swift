import CallCore
import RTP
import Testing

@testable import CongestionControl

/// What leaves when, of all that there is to send.
@Suite struct PacerTests {
  /// What a departure was.
  private struct Departure {
    let priority: PacketPriority
    let ssrc: UInt32
    let number: UInt16
    let at: Instant
    let byteCount: Int
  }

  private func makePacer(_ kilobits: Int64) -> Pacer {
    Pacer(settings: Pacer.Settings(rate: .kilobitsPerSecond(kilobits)))
  }

  private func enqueue(
    _ pacer: inout Pacer, _ priority: PacketPriority, ssrc: UInt32 = 1, number: UInt16 = 0, size: Int, at now: Instant
  ) {
    let header = RTPHeader(payloadType: 96, sequenceNumber: number, timestamp: 0, ssrc: ssrc)
    let isIn = pacer.enqueue(priority, at: now) { output in
      _ = header.write(into: &output)
      for _ in 12..<size { output.append(UInt8(truncatingIfNeeded: number)) }
      return OutgoingPacket(header: header, headerSize: 12, captured: now)
    }
    #expect(isIn)
  }

  /// All that may leave now.
  private func drain(_ pacer: inout Pacer, at now: Instant) -> [Departure] {
    var departures: [Departure] = []
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    while true {
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      let packet = pacer.next(into: &output, at: now)
      let count = output.finalize(for: memory)
      guard let packet else { return departures }
      #expect(
        count == packet.byteCount && memory[count - 1] == UInt8(truncatingIfNeeded: packet.packet.header.sequenceNumber)
      )
      departures.append(
        Departure(
          priority: packet.priority, ssrc: packet.packet.header.ssrc, number: packet.packet.header.sequenceNumber,
          at: now,
          byteCount: count))
    }
  }

  /// Everything from now on, at the pacer's own deadlines.
  private func run(_ pacer: inout Pacer, from now: Instant) -> [Departure] {
    var departures = drain(&pacer, at: now)
    while let deadline = pacer.deadline { departures += drain(&pacer, at: max(now, deadline)) }
    return departures
  }

  @Test func `audio leaves at once, before all else, and costs the others nothing`() {
    var pacer = makePacer(80)
    // 40 ms at 80 kbit/s are 400 bytes: the first packet of video may leave, the second must wait.
    for number in 0..<2 as Range<UInt16> { enqueue(&pacer, .video, number: number, size: 500, at: .zero) }
    for number in 10..<60 as Range<UInt16> { enqueue(&pacer, .audio, ssrc: 2, number: number, size: 1_000, at: .zero) }
    let departures = run(&pacer, from: .zero)
    #expect(departures.prefix(50).map(\.number) == Array(10..<60))
    #expect(departures.prefix(51).allSatisfy { $0.at == .zero })
    // 500 bytes are 50 ms, of which 40 may be owed.
    #expect(departures.last?.at == .zero + .milliseconds(10) && departures.count == 52)
  }

  @Test func `audio that the estimate includes leaves at once, too, and costs the others its time`() {
    var pacer = makePacer(80)
    pacer.countsAudio = true
    enqueue(&pacer, .audio, ssrc: 2, number: 1, size: 500, at: .zero)
    enqueue(&pacer, .video, number: 2, size: 500, at: .zero)
    let departures = run(&pacer, from: .zero)
    // 500 bytes are 50 ms, of which 40 may be owed.
    #expect(departures.map(\.number) == [1, 2])
    #expect(departures.map(\.at) == [.zero, .zero + .milliseconds(10)])
  }

  @Test func `the higher priority goes first, and sources of one take turns`() {
    var pacer = makePacer(100_000)
    let order: [(PacketPriority, UInt32, UInt16)] = [
      (.padding, 9, 0), (.repair, 8, 1), (.video, 1, 2), (.video, 1, 3), (.video, 2, 4), (.retransmission, 7, 5),
      (.video, 2, 6), (.audio, 6, 7),
    ]
    for (priority, ssrc, number) in order {
      enqueue(&pacer, priority, ssrc: ssrc, number: number, size: 100, at: .zero)
    }
    let numbers = run(&pacer, from: .zero).map(\.number)
    #expect(numbers == [7, 5, 2, 4, 3, 6, 1, 0])
  }

  @Test func `nothing waits longer than two seconds`() {
    var pacer = makePacer(100)
    // Ten seconds' worth at the pacing rate.
    for number in 0..<125 as Range<UInt16> { enqueue(&pacer, .video, number: number, size: 1_000, at: .zero) }
    let departures = run(&pacer, from: .zero)
    #expect(departures.count == 125)
    #expect(departures.allSatisfy { $0.at <= .zero + .milliseconds(2_100) })
    #expect((departures.last?.at ?? .zero) >= .zero + .milliseconds(1_800))
  }

  @Test func `a changed rate leaves the bytes owed as they are`() {
    var pacer = makePacer(80)
    for number in 0..<3 as Range<UInt16> { enqueue(&pacer, .video, number: number, size: 1_000, at: .zero) }
    // 1000 bytes are owed, 100 ms at 80 kbit/s and 10 ms at ten times that.
    #expect(drain(&pacer, at: .zero).count == 1)
    pacer.setRate(.kilobitsPerSecond(800), at: .zero)
    #expect(drain(&pacer, at: .zero).count == 2)
  }

  @Test func `what is thrown away is told, and leaves no more`() {
    var pacer = makePacer(80)
    for number in 0..<3 as Range<UInt16> { enqueue(&pacer, .retransmission, number: number, size: 1_000, at: .zero) }
    var thrown: [UInt16] = []
    pacer.removeAll { thrown.append($0.packet.header.sequenceNumber) }
    #expect(thrown == [0, 1, 2])
    let isOver = pacer.isEmpty && pacer.deadline == nil
    #expect(isOver)
  }

  /// By the definition of a rate with a burst: in no window leaves more than fits.
  @Test(arguments: 0..<20) func `in every window no more leaves than the rate and a burst`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("pacer")
    let rate = DataRate.kilobitsPerSecond(Int64(200 + random.uniform(below: 2_000)))
    var pacer = Pacer(settings: Pacer.Settings(rate: rate))
    var departures: [Departure] = []
    var (now, number) = (Instant.zero, UInt16(0))
    var sent: [UInt32: [UInt16]] = [:]
    for _ in 0..<600 {
      now += .microseconds(Int64(random.uniform(below: 16_000)))
      if random.chance(0.5), pacer.count < 20 {
        let priority: PacketPriority = random.chance(0.2) ? .retransmission : .video
        let ssrc = UInt32(1 + random.uniform(below: 3)) + (priority == .video ? 0 : 10)
        enqueue(&pacer, priority, ssrc: ssrc, number: number, size: 20 + Int(random.uniform(below: 1_100)), at: now)
        sent[ssrc, default: []].append(number)
        number += 1
      }
      departures += drain(&pacer, at: now)
    }
    departures += run(&pacer, from: now)
    for (ssrc, numbers) in sent { #expect(departures.filter { $0.ssrc == ssrc }.map(\.number) == numbers) }
    for first in stride(from: 0, to: departures.count, by: 7) {
      var bytes = 0
      for last in first..<departures.count {
        bytes += departures[last].byteCount
        let window = (departures[last].at - departures[first].at + .milliseconds(40)).seconds
        #expect(Double(bytes * 8) <= Double(rate.bitsPerSecond) * window + 8 * 2 * 1_200)
      }
    }
  }
}
