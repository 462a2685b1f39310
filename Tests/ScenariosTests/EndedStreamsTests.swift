import CallCore
import ScenarioFormat
import Statistics
import Testing
import Vocabulary

@testable import ScenarioJudge
@testable import ScenarioRun

/// What streams have counted that a connection no longer has.
@Suite struct EndedStreamsTests {
  private static func report(_ streams: [(id: String, packets: Int64)], received: Int64) -> StatsReport {
    StatsReport(
      entries: streams.map {
        .init(
          id: $0.id, type: "inbound-rtp", kind: "audio",
          members: [("packetsReceived", .integer($0.packets)), ("jitter", .real(Double($0.packets)))])
      } + [.init(id: "T", type: "transport", members: [("packetsReceived", .integer(received))])])
  }

  /// The sum of the packets of all streams after each of these reports.
  private static func sums(_ reports: [(streams: [(id: String, packets: Int64)], received: Int64)]) -> [Double?] {
    let reader = StatsReader()
    let path = ValuePath.of("bob", "stats.inbound-rtp.audio.packetsReceived")
    return reports.map { streams, received in
      let report = report(streams, received: received)
      reader.report = { _ in report }
      return reader.number(of: path)
    }
  }

  @Test func `a stream that ends takes nothing back of what was received`() {
    let sums = Self.sums([([("a", 100), ("b", 50)], 150), ([("a", 110)], 170), ([], 180), ([("c", 5)], 185)])
    #expect(sums == [150, 160, 160, 165])
  }

  @Test func `a stream that comes back counts on, and is not counted twice`() {
    #expect(Self.sums([([("a", 100)], 100), ([], 100), ([("a", 101)], 101)]) == [100, 100, 101])
  }

  @Test func `a stream that begins again under its identifier leaves what it has counted`() {
    let sums = Self.sums([([("a", 100)], 100), ([], 100), ([("a", 1)], 101), ([("a", 150)], 250)])
    #expect(sums == [100, 100, 101, 250])
  }

  @Test func `a section that receives alone has no source that counts`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      media: synthetic
      peers:
        alice: { profile: vonage, network: home }
        bob: { profile: vonage, network: home }
      timeline:
        - { at: 0s, do: alice.create-session, session: pair, mode: relayed }
        - { at: 1s, do: bob.connect, session: pair }
        - { at: 1s, do: alice.connect, session: pair }
        - { mark: settled, at: 4s }
        - { at: 8100ms, do: alice.unpublish }
        - { at: 11s, do: alice.publish }
        - { mark: late, at: 14s }
        - { id: bye, at: 15s, do: alice.disconnect }
      expect:
        - { metric: alice.stats.media-source.audio.totalSamplesDuration, stat: delta, window: [settled, late], gt: 6.9s, lt: 7.15s }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a source that ends leaves what it has counted`() {
    let reader = StatsReader()
    let path = ValuePath.of("alice", "stats.media-source.video.frames")
    let sources: [(id: String, frames: Int64)?] = [("a", 100), nil, ("a", 1), ("b", 5), ("b", 6)]
    let sums = sources.map { source -> Double? in
      let entries = [source].compactMap(\.self).map {
        StatsReport.Entry(id: $0.id, type: "media-source", kind: "video", members: [("frames", .integer($0.frames))])
      }
      reader.report = { _ in StatsReport(entries: entries) }
      return reader.number(of: path)
    }
    #expect(sums == [100, 100, 101, 106, 107])
  }

  /// Of a counter that stood still a sample below the number at the border would be a restart.
  @Test(arguments: [77_304.573_000_000_4, 0.123_456_789_4, 1e-12])
  func `a time read at a border is as precise as a sample of it`(_ seconds: Double) {
    let reader = StatsReader()
    let entry = StatsReport.Entry(
      id: "a", type: "inbound-rtp", kind: "audio", members: [("jitterBufferDelay", .real(seconds))])
    reader.report = { _ in StatsReport(entries: [entry]) }
    let path = ValuePath.of("bob", "stats.inbound-rtp.audio.jitterBufferDelay", .duration)
    #expect(reader.number(of: path) == Interval.seconds(1).scaled(by: seconds).seconds)
  }

  @Test func `the next connection begins at zero`() {
    #expect(Self.sums([([("a", 100)], 100), ([("b", 3)], 3)]) == [100, 3])
  }

  @Test func `of a number that is no counter the streams that ended say nothing`() {
    let reader = StatsReader()
    let path = ValuePath.of("bob", "stats.inbound-rtp.audio.jitter", .duration)
    for streams in [[("a", 9), ("b", 2)], [("b", 2)]] as [[(id: String, packets: Int64)]] {
      reader.note(Self.report(streams, received: 11), of: "bob")
    }
    #expect(reader.value(of: path, in: Self.report([("b", 2)], received: 11))?.number == 2)
  }
}
