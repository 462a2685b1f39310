import CallCore
import SimNet
import Testing

@testable import ScenarioJudge

/// What the judge counts of a source's packets, against libwebrtc's own way of counting.
@Suite struct ReceptionRecordTests {
  /// libwebrtc's `StreamStatisticianImpl` (modules/rtp_rtcp/source/receive_statistics_impl.cc), step by step.
  private struct Reference {
    private(set) var lost: Int64 = 0
    private(set) var jitterQ4: Int64 = 0
    private var highest: Int64?
    private var jumped: UInt16?
    private var last: (timestamp: UInt32, time: Instant)?

    mutating func receive(_ packet: WireMedia) {
      // The unwrapped number nearest to the highest.
      let number =
        highest.map { $0 + Int64(Int16(bitPattern: packet.sequence &- UInt16(truncatingIfNeeded: $0))) }
        ?? Int64(packet.sequence)
      lost -= 1
      if highest == nil {
        highest = number - 1
      } else if isOutOfOrder(packet.sequence, number) {
        return
      }
      lost += number - (highest ?? 0)
      highest = number
      if let last, last.timestamp != packet.timestamp { revise(packet, last) }
      last = (packet.timestamp, packet.time)
    }

    private mutating func isOutOfOrder(_ sequence: UInt16, _ number: Int64) -> Bool {
      if let before = jumped {
        lost -= 1
        jumped = nil
        if sequence == before &+ 1 {
          highest = number - 2
          return false
        }
      }
      if abs(number - (highest ?? 0)) > 50 {
        jumped = sequence
        lost += 1
        return true
      }
      return number <= (highest ?? 0)
    }

    private mutating func revise(_ packet: WireMedia, _ last: (timestamp: UInt32, time: Instant)) {
      let arrival = (packet.time - last.time).nanoseconds * 48 / 1_000_000
      let difference = abs(arrival - Int64(Int32(bitPattern: packet.timestamp &- last.timestamp)))
      guard difference < 5 * 48_000 else { return }
      jitterQ4 += ((difference << 4) - jitterQ4 + 8) >> 4
    }
  }

  private func packet(
    _ sequence: UInt16, timestamp: UInt32, payloadType: UInt8 = 111, at time: Instant
  ) -> WireMedia {
    WireMedia(
      peer: "bob", direction: .rx, payloadType: payloadType, ssrc: 7, sequence: sequence, timestamp: timestamp,
      byteCount: 100, time: time)
  }

  private func lost(_ sequences: [UInt16]) -> Int64 {
    var record = ReceptionRecord()
    for (index, sequence) in sequences.enumerated() {
      let time = Instant.zero + .milliseconds(Int64(index) * 20)
      record.receive(packet(sequence, timestamp: UInt32(sequence) * 960, at: time))
    }
    return record.lost
  }

  @Test func `losses are the numbers that did not come`() {
    #expect(lost([1, 2, 5]) == 2)
    #expect(lost([1, 5, 2]) == 2)
    #expect(lost([65_534, 1]) == 2)
    #expect(lost([1, 1, 2]) == -1)
  }

  @Test func `a step of more than fifty is a restart when the next packet follows it`() {
    #expect(lost([1, 51]) == 49)
    #expect(lost([1, 52, 53]) == 0)
    #expect(lost([1_000, 3, 4]) == 0)
    #expect(lost([1, 2, 4, 30_000, 30_001, 30_003]) == 2)
    // One that strayed is a packet too many, and only once the next has shown it.
    #expect(lost([1, 2, 900]) == 0)
    #expect(lost([1, 2, 900, 3]) == -1)
  }

  /// Loss, reordering, repetition, steps back and forth, and the wrap of numbers and timestamps.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `it counts as libwebrtc does, whatever comes`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("arrivals")
    var sent: [(sequence: UInt16, timestamp: UInt32)] = []
    var (sequence, timestamp) = (UInt16(random.uniform(below: 65_536)), UInt32.max - 100_000)
    for _ in 0..<400 {
      sequence &+= 1
      timestamp &+= 960
      switch random.uniform(below: 100) {
      case 0..<10: continue
      case 10..<15: if let again = sent.last { sent.append(again) }
      case 15..<17: sequence &+= UInt16(random.uniform(in: 30...70))
      case 17: sequence = UInt16(random.uniform(below: 65_536))
      case 18: timestamp &+= 400_000
      default: break
      }
      sent.append((sequence, timestamp))
      if sent.count > 3, random.uniform(below: 20) == 0 {
        sent.swapAt(sent.count - 1, sent.count - Int(random.uniform(in: 2...3)))
      }
    }
    var (record, reference) = (ReceptionRecord(), Reference())
    var now = Instant.zero
    for (index, packet) in sent.enumerated() {
      now = now + .microseconds(random.uniform(in: 0...40_000))
      let arriving = self.packet(packet.sequence, timestamp: packet.timestamp, at: now)
      record.receive(arriving)
      reference.receive(arriving)
      #expect(record.packets == Int64(index) + 1 && record.bytes == 100 * (Int64(index) + 1))
      #expect(record.lost == reference.lost, "packet \(index)")
      // It is rounded to whole ticks at every step.
      let jitter = (record.jitter(clockRate: 48_000, claimed: 0) ?? -1) * 48_000
      #expect(abs(jitter - Double(reference.jitterQ4) / 16) < 2, "packet \(index)")
    }
  }

  @Test func `packets of an event, with the timestamp of its beginning, are no jitter`() {
    var record = ReceptionRecord()
    for (sequence, timestamp) in [0, 1, 2, 2, 2, 5, 2, 7].enumerated() {
      let time = Instant.zero + .milliseconds(Int64(sequence) * 20)
      record.receive(
        packet(UInt16(sequence), timestamp: UInt32(timestamp) * 160, at: time), isTimed: timestamp != 2)
    }
    #expect(record.jitter(clockRate: 8_000, claimed: 0) ?? .infinity < 1e-9)
  }

  @Test func `a pause of exactly five seconds is another media clock, whenever it begins`() {
    for offset in 0..<100 as Range<Int64> {
      var record = ReceptionRecord()
      let start = Instant.zero + .microseconds(6_020_300 + offset * 7_919)
      record.receive(packet(1, timestamp: 0, at: start))
      record.receive(packet(2, timestamp: 960, at: start + .milliseconds(5_020)))
      #expect(record.jitter(clockRate: 48_000, claimed: 0) == 0, "\(offset)")
    }
  }

  @Test func `a change of the media clock is no jitter, and what comes after it is judged again`() {
    var record = ReceptionRecord()
    func receive(_ numbers: Range<Int>, ticks: Int, jitter: Interval = .zero) {
      for number in numbers {
        let late = number.isMultiple(of: 2) ? jitter : .zero
        let arrival = Instant.zero + .milliseconds(20 * Int64(number)) + late
        record.receive(packet(UInt16(number), timestamp: UInt32(number * ticks), at: arrival))
      }
    }
    receive(0..<50, ticks: 960)
    #expect(record.jitter(clockRate: 48_000, claimed: 0) == 0)
    receive(50..<60, ticks: 160)
    #expect(record.jitter(clockRate: 8_000, claimed: 0) == 0)
    receive(60..<200, ticks: 160, jitter: .milliseconds(5))
    #expect(abs((record.jitter(clockRate: 8_000, claimed: 0) ?? 0) - 0.005) < 0.000_1)
  }

  @Test func `a first packet by another clock is no jitter`() {
    var record = ReceptionRecord()
    record.receive(packet(0, timestamp: 0, payloadType: 0, at: .zero))
    for number in 1..<20 {
      let arrival = Instant.zero + .milliseconds(20 * Int64(number))
      record.receive(packet(UInt16(number), timestamp: UInt32(number * 960 + 160), at: arrival))
    }
    #expect(record.jitter(clockRate: 48_000, claimed: 0) == 0)
  }
}
