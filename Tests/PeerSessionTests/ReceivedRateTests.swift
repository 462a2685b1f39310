import CallCore
import Testing

@testable import PeerSession

@Suite struct ReceivedRateTests {
  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// Returns the rate in bits per second; nil if it is not known.
  private func bits(_ rate: inout ReceivedRate, at milliseconds: Int64) -> Int64? {
    rate.rate(at: at(milliseconds))?.bitsPerSecond
  }

  @Test func `the rate is that of the last two and a half seconds`() throws {
    var rate = ReceivedRate()
    for time in stride(from: Int64(0), to: 5_000, by: 20) { rate.add(250, at: at(time)) }
    let first = bits(&rate, at: 5_000)
    #expect((95_000...105_000).contains(try #require(first)))
    for time in stride(from: Int64(5_000), to: 8_000, by: 20) { rate.add(500, at: at(time)) }
    let second = bits(&rate, at: 8_000)
    #expect((190_000...210_000).contains(try #require(second)))
  }

  @Test func `a key frame of eight frames adds little`() throws {
    var rate = ReceivedRate()
    for time in stride(from: Int64(0), to: 5_000, by: 33) { rate.add(2_000, at: at(time)) }
    let before = bits(&rate, at: 5_000)
    rate.add(16_000, at: at(5_000))
    let after = bits(&rate, at: 5_010)
    let limit = try #require(before) * 115 / 100
    #expect(try #require(after) < limit)
  }

  @Test func `after a pause the rate is that of what came since`() throws {
    var rate = ReceivedRate()
    for time in stride(from: Int64(0), to: 2_000, by: 20) { rate.add(2_500, at: at(time)) }
    for time in stride(from: Int64(3_000), to: 4_000, by: 20) { rate.add(250, at: at(time)) }
    let after = bits(&rate, at: 4_000)
    #expect((95_000...105_000).contains(try #require(after)))
  }

  @Test func `nothing is no rate, and what has just begun has none yet, after a pause neither`() {
    var rate = ReceivedRate()
    var known = bits(&rate, at: 1_000)
    #expect(known == nil)
    for begin: Int64 in [1_000, 3_000] {
      for time in stride(from: begin, to: begin + 1_000, by: 20) {
        rate.add(250, at: at(time))
        known = bits(&rate, at: time)
        #expect(known == nil)
      }
      rate.add(250, at: at(begin + 1_000))
      known = bits(&rate, at: begin + 1_000)
      #expect(known == 102_000)
    }
  }
}
