import CallCore
import Pictures
import Testing

@testable import Formats
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import VirtualPeer

/// What a recorder keeps of a call, and the file that comes of it.
@Suite struct `Recordings of a call` {
  private static func format(_ frameRate: Int) -> RecordingFormat {
    var format = RecordingFormat()
    (format.width, format.height, format.frameRate) = (160, 120, frameRate)
    return format
  }

  private static func record(_ times: [Interval], _ frameRate: Int = 30) throws -> PictureRecorder {
    let recorder = PictureRecorder(format(frameRate))
    for time in times { try recorder.take(VideoFrame(filled: .qqvga, luma: 90), at: time) }
    return recorder
  }

  private static func second(of count: Int64) -> [Interval] {
    (0..<count).map { Interval(nanoseconds: $0 * 1_000_000_000 / count) }
  }

  @Test func `pictures beyond the frame rate are left out`() throws {
    #expect([15, 16].contains(try Self.record(Self.second(of: 60), 15).count))
  }

  @Test func `pictures that come early and late are all kept`() throws {
    let times = Self.second(of: 30).enumerated().map { index, time in
      time + .milliseconds([0, 9, -9, 4][index % 4] + 10)
    }
    #expect(try Self.record(times).count == 30)
  }

  @Test func `pictures keep their times, and the last one stands until the end`() throws {
    let track = try #require(try Self.record([.milliseconds(500), .milliseconds(750)]).track(until: .seconds(2)))
    #expect(track.delay == 24_000)
    #expect(track.samples.map(\.duration) == [12_000, 60_000])
    #expect(track.samples.map(\.isSync) == [true, false])
  }

  @Test func `pictures of another size are scaled`() throws {
    let recorder = PictureRecorder(Self.format(30))
    try recorder.take(VideoFrame(filled: .vga), at: .zero)
    guard case .h264(let width, let height, let sets, _) = recorder.track(until: .seconds(1))?.coding else {
      Issue.record("no track of pictures")
      return
    }
    #expect((width, height) == (160, 120) && sets.count == 1)
  }

  @Test func `a recording without a picture has no track of pictures`() throws {
    #expect(try Self.record([]).track(until: .seconds(1)) == nil)
  }

  @Test func `a gap of the audio unit is silence`() throws {
    let recorder = try SoundRecorder()
    for time in [10, 20, 990, 1_000] as [Int64] { try recorder.take(played: [], length: 480, at: .milliseconds(time)) }
    let track = try recorder.track(until: .seconds(1))
    #expect(track.playedDuration == 48_000)
    // 48,000 samples and the 312 that a decoder leaves out, in packets of 960.
    #expect(track.samples.count == 51)
  }

  @Test func `sound is as long as the recording`() throws {
    let recorder = try SoundRecorder()
    try recorder.take(played: [1, 2, 3], length: 480, at: .milliseconds(10))
    #expect(try recorder.track(until: .milliseconds(100)).duration == 4_800)
  }

  private static let scenario = """
    callsim: 1
    id: test
    media: real
    peers:
      alice: { profile: connectycube, network: home, video: { size: 160x120 } }
      bob: { profile: connectycube, network: home, video: { size: 160x120 } }
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { when: bob.session.state == pending, do: bob.accept }
      - { id: on, after: 1s, of: alice.connected, do: alice.start-recording }
      - { id: off, after: 1s, of: on, do: alice.stop-recording }
      - { after: 1s, of: off, do: alice.hangup }
    expect:
      - { count: alice.to.bob.recorderDidStop, eq: 1 }
    """

  private static func files() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    var outputs = RunOutputs()
    outputs.recorded = { files[$0] = $1 }
    #expect(try play(scenario, outputs: outputs).verdict == .pass)
    return files
  }

  @Test func `a call of two gives a file with pictures and sound of the same length`() throws {
    let bytes = try #require(try Self.files()["alice-recording-1.mp4"])
    let file = try #require(MP4Reader(bytes))
    let (pictures, sound) = (try #require(file.track("vide")), try #require(file.track("soun")))
    #expect((28...31).contains(file.samples(of: pictures).count))
    #expect(file.durations(of: pictures).reduce(0, +) == 48_000)
    #expect(file.edits(of: sound).map(\.duration) == [48_000])
  }

  @Test func `the same scenario and seed give the same file`() throws {
    #expect(try Self.files() == Self.files())
  }
}
