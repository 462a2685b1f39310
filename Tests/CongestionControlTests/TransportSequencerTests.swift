import CallCore
import RTP
import Testing

@testable import CongestionControl

/// Numbers out, feedback in.
@Suite struct TransportSequencerTests {
  private func feedback(_ first: UInt16, count: UInt16, arrived: [UInt16], number: UInt8 = 0) -> TransportFeedback {
    TransportFeedback(
      senderSSRC: 1, mediaSSRC: 2, firstNumber: first, count: count, referenceTime: 10, feedbackNumber: number,
      arrivals: arrived.map { .init(index: $0 &- first, delta: 4) })
  }

  private func send(_ sequencer: inout TransportSequencer, _ count: Int, from: Instant = .zero) -> [UInt16] {
    (0..<count).map { sequencer.assign(byteCount: 100, at: from + .milliseconds(20) * Int64($0)) }
  }

  @Test func `feedback tells of each packet when it left, and when or whether it arrived`() {
    var sequencer = TransportSequencer(first: 65_534)
    let numbers = send(&sequencer, 4)
    #expect(numbers == [65_534, 65_535, 0, 1] && sequencer.bytesInFlight == 400)
    var results: [TransportSequencer.Result] = []
    sequencer.receive(feedback(65_534, count: 4, arrived: [65_534, 0]), into: &results)
    #expect(results.map(\.sent.nanoseconds) == [0, 20_000_000, 40_000_000, 60_000_000])
    #expect(results.map { $0.arrived.map { ($0 - .zero).milliseconds } } == [641, nil, 642, nil])
    // What was sent before one that arrived is in flight no more.
    #expect(sequencer.bytesInFlight == 100)
  }

  @Test func `a packet told of as missing may still arrive, and one that arrived is told of once`() {
    var sequencer = TransportSequencer()
    _ = send(&sequencer, 3)
    var results: [TransportSequencer.Result] = []
    sequencer.receive(feedback(1, count: 3, arrived: [1, 3]), into: &results)
    results = []
    sequencer.receive(feedback(2, count: 2, arrived: [2, 3], number: 1), into: &results)
    #expect(results.count == 1 && results[0].arrived != nil && results[0].sent == .zero + .milliseconds(20))
    results = []
    sequencer.receive(feedback(1, count: 3, arrived: [1, 2, 3], number: 2), into: &results)
    #expect(results.isEmpty)
  }

  @Test func `feedback about packets that were never sent, or too long ago, says nothing`() {
    var sequencer = TransportSequencer()
    var results: [TransportSequencer.Result] = []
    sequencer.receive(feedback(1, count: 9, arrived: [1, 9]), into: &results)
    #expect(results.isEmpty)
    _ = send(&sequencer, 2)
    _ = sequencer.assign(byteCount: 100, at: .zero + .seconds(61))
    #expect(sequencer.count == 1 && sequencer.bytesInFlight == 100)
    sequencer.receive(feedback(1, count: 40_000, arrived: [1, 2, 4, 5], number: 1), into: &results)
    #expect(results.map(\.arrived) == [nil])
  }

  @Test func `what is remembered is bounded, however much is sent`() {
    var sequencer = TransportSequencer()
    for index in 0..<100_000 { _ = sequencer.assign(byteCount: 1, at: .zero + .microseconds(Int64(index))) }
    #expect(sequencer.count == 1 << 15 && sequencer.bytesInFlight == 1 << 15)
  }

  @Test func `a result has the number of its packet, its probe and the bytes without numbers before it`() {
    var sequencer = TransportSequencer(first: 65_535)
    _ = sequencer.assign(byteCount: 100, probe: 7, at: .zero)
    sequencer.sentUnnumbered(byteCount: 60)
    sequencer.sentUnnumbered(byteCount: 40)
    for _ in 0..<2 { _ = sequencer.assign(byteCount: 100, at: .zero) }
    var results: [TransportSequencer.Result] = []
    sequencer.receive(feedback(65_535, count: 3, arrived: [65_535, 0, 1]), into: &results)
    #expect(results.map(\.number) == [65_535, 65_536, 65_537])
    #expect(results.map(\.probe) == [7, nil, nil] && results.map(\.unnumberedByteCount) == [0, 100, 0])
  }

  @Test func `feedback that is lost is counted by its numbers`() {
    var sequencer = TransportSequencer()
    _ = send(&sequencer, 3)
    var results: [TransportSequencer.Result] = []
    for number in [254, 255, 2, 1, 3] as [UInt8] {
      sequencer.receive(feedback(1, count: 1, arrived: [], number: number), into: &results)
    }
    #expect(sequencer.lostFeedbackCount == 1)
  }
}
