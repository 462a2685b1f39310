import CallCore
import Codecs
import JitterBuffer
import RTP
import StackWorlds
import Testing

/// Pattern 39: what leaves a jitter buffer deep, empty or stuck.
@Suite struct PlayoutPatternTests {
  @Test(arguments: [200.0, -200.0])
  func `39 - clock drift neither starves nor grows the buffer`(drift: Double) throws {
    try proves(.driftNotFollowed) { claims in
      var talker = Talker(.ms60)
      let playback = Playback(drift: drift, pullSamples: 2_880)
      playback.keepsFrames = false
      let pattern = talker.stream(1)[0]
      let arrivals = (0..<20_000).lazy.map { index -> Arrival in
        var packet = pattern
        packet.at = .milliseconds(Int64(index) * 60)
        packet.header.sequenceNumber &+= UInt16(truncatingIfNeeded: index)
        packet.header.timestamp &+= UInt32(truncatingIfNeeded: index * 2_880)
        return packet
      }
      playback.run(arrivals, until: .seconds(1_200))
      let statistics = playback.statistics
      claims("nothing is invented", statistics.concealedSamples == 0)
      claims("nothing is thrown away", statistics.packetsDiscarded == 0)
      claims("the delay stays: \(playback.currentDelay)", playback.currentDelay < .milliseconds(100))
    }
  }

  @Test(arguments: [(numbers: -5_000, seconds: 0), (0, 31), (0, 3_000)])
  func `39 - a jump of numbers or of timestamps is followed`(numbers: Int, seconds: Int) throws {
    try proves(.jumpNotFollowed) { claims in
      var talker = Talker()
      let first = talker.stream(100)
      talker.sequence = UInt16(truncatingIfNeeded: Int(talker.sequence) + numbers)
      talker.timestamp = UInt32(truncatingIfNeeded: Int(talker.timestamp) + seconds * 48_000)
      let playback = Playback()
      playback.run(first + talker.stream(250, from: .seconds(2)), until: .milliseconds(6_900))
      claims("the end is heard", playback.frames.suffix(400).allSatisfy { $0.source == .decoded })
      claims("without delay", playback.currentDelay < .milliseconds(150))
    }
  }

  @Test func `39 - a sound card that stalls and catches up leaves no delay behind`() throws {
    try proves(.driftNotFollowed, by: "regressions/39-late-hardware")
  }

  @Test func `39 - packets may change their duration`() throws {
    try proves(.packetDurationFixed) { claims in
      var talker = Talker(.ms20)
      let first = talker.stream(100)
      talker.settings.packetDuration = .ms60
      let playback = Playback()
      playback.run(first + talker.stream(100, from: .seconds(2)), until: .milliseconds(7_900))
      claims("nothing is invented", playback.statistics.concealedSamples == 0)
      claims("nor taken for a pause", playback.statistics.comfortSamples == 0)
      claims("nothing is thrown away", playback.statistics.packetsDiscarded == 0)
    }
  }
}
