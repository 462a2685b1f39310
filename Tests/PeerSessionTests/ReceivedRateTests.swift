import CallCore
import Testing

@testable import PeerSession

@Suite struct ReceivedRateTests {
  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func `the rate is that of the last two and a half seconds`() {
    var rate = ReceivedRate()
    for time in stride(from: Int64(0), to: 5_000, by: 20) { rate.add(250, at: at(time)) }
    #expect((95_000...105_000).contains(rate.rate(at: at(5_000)).bitsPerSecond))
    for time in stride(from: Int64(5_000), to: 8_000, by: 20) { rate.add(500, at: at(time)) }
    #expect((190_000...210_000).contains(rate.rate(at: at(8_000)).bitsPerSecond))
  }

  @Test func `a key frame of eight frames adds little`() {
    var rate = ReceivedRate()
    for time in stride(from: Int64(0), to: 5_000, by: 33) { rate.add(2_000, at: at(time)) }
    let before = rate.rate(at: at(5_000))
    rate.add(16_000, at: at(5_000))
    #expect(rate.rate(at: at(5_010)).bitsPerSecond < before.bitsPerSecond * 115 / 100)
  }

  @Test func `after a pause the rate is that of what came since`() {
    var rate = ReceivedRate()
    for time in stride(from: Int64(0), to: 2_000, by: 20) { rate.add(2_500, at: at(time)) }
    for time in stride(from: Int64(3_000), to: 4_000, by: 20) { rate.add(250, at: at(time)) }
    #expect((95_000...105_000).contains(rate.rate(at: at(4_000)).bitsPerSecond))
  }

  @Test func `nothing is no rate`() {
    var rate = ReceivedRate()
    #expect(rate.rate(at: at(1_000)) == .zero)
  }
}
