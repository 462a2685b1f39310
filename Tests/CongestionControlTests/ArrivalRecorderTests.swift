import CallCore
import RTP
import Testing

@testable import CongestionControl

/// Arrivals in, feedback out.
@Suite struct ArrivalRecorderTests {
  /// All feedback that is due at the recorder's deadline.
  private func feedback(_ recorder: inout ArrivalRecorder, at now: Instant) -> [TransportFeedback] {
    var all: [TransportFeedback] = []
    while let next = recorder.takeFeedback(from: 1, at: now) { all.append(next) }
    return all
  }

  private func told(_ feedback: TransportFeedback) -> [UInt16] {
    feedback.arrivals.map { feedback.firstNumber &+ $0.index }
  }

  @Test func `feedback leaves 100 ms after the last, tells what has come since, and where nothing has, nothing`() throws
  {
    var recorder = ArrivalRecorder()
    #expect(recorder.deadline == nil)
    for number in 0..<6 as Range<UInt16> {
      if number == 3 { continue }
      recorder.record(number, from: 7, at: .zero + .milliseconds(20) * Int64(number))
    }
    #expect(recorder.deadline == .zero + .milliseconds(100))
    let early = feedback(&recorder, at: .zero + .milliseconds(99))
    #expect(early.isEmpty)
    let first = try #require(feedback(&recorder, at: .zero + .milliseconds(100)).first)
    #expect(told(first) == [0, 1, 2, 4, 5] && first.count == 6 && first.mediaSSRC == 7 && first.feedbackNumber == 0)
    #expect(recorder.deadline == nil)
    recorder.record(8, from: 7, at: .zero + .milliseconds(160))
    #expect(recorder.deadline == .zero + .milliseconds(200))
    let second = try #require(feedback(&recorder, at: .zero + .milliseconds(200)).first)
    #expect(second.firstNumber == 6 && told(second) == [8] && second.count == 3 && second.feedbackNumber == 1)
  }

  @Test func `a packet that comes late is told of, with those behind it again`() throws {
    var recorder = ArrivalRecorder()
    for number in [10, 11, 13, 14] as [UInt16] { recorder.record(number, from: 1, at: .zero) }
    _ = feedback(&recorder, at: .zero + .milliseconds(100))
    recorder.record(12, from: 1, at: .zero + .milliseconds(120))
    let next = try #require(feedback(&recorder, at: .zero + .milliseconds(200)).first)
    #expect(told(next) == [12, 13, 14])
    #expect(next.arrivals[1].delta < 0)
    // A second copy is no news.
    recorder.record(12, from: 1, at: .zero + .milliseconds(220))
    #expect(recorder.deadline == nil)
  }

  @Test func `what was told of half a second ago is forgotten`() throws {
    var recorder = ArrivalRecorder()
    for number in [1, 3] as [UInt16] { recorder.record(number, from: 1, at: .zero) }
    _ = feedback(&recorder, at: .zero + .milliseconds(100))
    recorder.record(4, from: 1, at: .zero + .milliseconds(600))
    _ = feedback(&recorder, at: .zero + .milliseconds(700))
    recorder.record(2, from: 1, at: .zero + .milliseconds(710))
    let next = try #require(feedback(&recorder, at: .zero + .milliseconds(800)).first)
    #expect(told(next) == [2, 4])
  }

  @Test func `a gap of any length is told of, or given up`() throws {
    for gap in [1, 400, 8_000, 32_000, 40_000, 65_000] as [UInt16] {
      var recorder = ArrivalRecorder()
      recorder.record(5, from: 1, at: .zero)
      recorder.record(5 &+ gap, from: 1, at: .zero + .milliseconds(1))
      let all = feedback(&recorder, at: .zero + .milliseconds(100))
      #expect(all.flatMap(told).contains(5 &+ gap), "\(gap)")
      #expect(recorder.deadline == nil)
    }
  }

  @Test func `the interval follows the bitrate, within 50 to 250 ms`() {
    var recorder = ArrivalRecorder()
    for (kilobits, milliseconds) in [(300, 50), (109, 99), (20, 250), (0, 250)] as [(Int64, Int64)] {
      recorder.setBitrate(.kilobitsPerSecond(kilobits))
      #expect(recorder.settings.interval.milliseconds == milliseconds)
    }
  }

  /// Sender and receiver with a lossy, reordering network between them, and feedback that gets lost too.
  @Test(arguments: 0..<24) func `what the sender is told is what happened`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("loop")
    let (loss, feedbackLoss) = ([0, 0.05, 0.5][Int(seed % 3)], seed % 2 == 0 ? 0 : 0.3)
    var sequencer = TransportSequencer(first: 65_000)
    var recorder = ArrivalRecorder()
    var flying: [(number: UInt16, at: Instant)] = []
    var (sent, arrived): ([UInt16: Instant], [Instant: Instant]) = ([:], [:])
    var (told, missing): ([Instant: Instant], Set<Instant>) = ([:], [])
    var results: [TransportSequencer.Result] = []
    var reports = 0
    for step in 0..<4_000 {
      let now = Instant.zero + .milliseconds(5) * Int64(step) + .milliseconds(1)
      if step < 3_800, random.chance(0.6) {
        let number = sequencer.assign(byteCount: 100, at: now)
        sent[number] = now
        if !random.chance(loss) {
          flying.append((number, now + .milliseconds(20) + .milliseconds(Int64(random.uniform(below: 60)))))
        }
      }
      for packet in flying.filter({ $0.at <= now }).sorted(by: { ($0.at, $0.number) < ($1.at, $1.number) }) {
        recorder.record(packet.number, from: 1, at: packet.at)
        if let left = sent[packet.number] { arrived[left] = packet.at }
      }
      flying.removeAll { $0.at <= now }
      guard let deadline = recorder.deadline, deadline <= now else { continue }
      for feedback in self.feedback(&recorder, at: now) where !random.chance(feedbackLoss) {
        reports += 1
        results.removeAll()
        sequencer.receive(feedback, into: &results)
        for result in results {
          if let arrival = result.arrived { told[result.sent] = arrival } else { missing.insert(result.sent) }
        }
      }
    }
    #expect(reports > 50)
    for (left, arrival) in told { #expect(abs((arrived[left]! - arrival).nanoseconds) <= 125_000) }
    if feedbackLoss == 0 { #expect(told.count == arrived.count) } else { #expect(told.count > arrived.count / 2) }
    // Told of as missing, it was lost or came late.
    for left in missing where told[left] == nil && feedbackLoss == 0 { #expect(arrived[left] == nil) }
    if loss > 0 { #expect(!missing.isEmpty) }
  }
}
