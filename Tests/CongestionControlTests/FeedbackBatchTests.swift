import CallCore
import Testing

@testable import CongestionControl

@Suite struct FeedbackBatchTests {
  private func result(_ number: Int64, sent: Int64, arrived: Int64?) -> TransportSequencer.Result {
    TransportSequencer.Result(
      number: number, byteCount: 1, sent: .zero + .microseconds(sent),
      arrived: arrived.map { .zero + .microseconds($0) }
    )
  }

  @Test func `times are whole milliseconds, and arrivals in their order`() {
    var batch = FeedbackBatch()
    batch.load(
      [
        result(1, sent: 1_900, arrived: 30_999), result(2, sent: 2_100, arrived: nil),
        result(3, sent: 3_000, arrived: 20_500), result(4, sent: 4_999, arrived: -1_500),
      ], since: nil)
    #expect(batch.packets.map(\.number) == [1, 2, 3, 4] && batch.lostCount == 1)
    #expect(batch.packets.map { $0.sent.nanoseconds / 1_000 } == [1_000, 2_000, 3_000, 4_000])
    #expect(batch.arrivals.map(\.number) == [4, 3, 1])
    #expect(batch.arrivals.map { ($0.arrived ?? .zero).nanoseconds / 1_000 } == [-2_000, 20_000, 30_000])
  }

  @Test func `packets of an earlier route are left out`() {
    var batch = FeedbackBatch()
    batch.load(
      [result(1, sent: 1_000, arrived: 9_000), result(2, sent: 2_000, arrived: 9_000)],
      since: .zero + .milliseconds(2))
    #expect(batch.packets.map(\.number) == [2] && batch.arrivals.map(\.number) == [2])
    batch.load([], since: nil)
    #expect(batch.packets.isEmpty && batch.roundTrips(at: .zero) == nil)
  }
}
