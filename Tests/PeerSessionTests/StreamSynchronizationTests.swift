import CallCore
import RTP
import Testing

@testable import PeerSession

@Suite struct StreamSynchronizationTests {
  private typealias Delays = StreamSynchronization.Delays

  /// Plays for some updates what is asked for: audio and video wait as long as they are told, and at least for a time of
  /// their own.
  ///
  /// - Returns: the minimum delays, and by how much pictures come after their sound.
  private func settle(
    pathDifference: Interval, ownAudio: Interval, ownVideo: Interval, updates: Int = 60,
    _ each: (Delays) -> Void = { _ in }
  ) -> (delays: Delays, offset: Interval) {
    var (synchronization, delays) = (StreamSynchronization(), Delays())
    var (audio, video) = (ownAudio, ownVideo)
    for _ in 0..<updates {
      guard
        let changed = synchronization.update(difference: pathDifference, audioDelay: audio, videoDelay: video)
      else { continue }
      delays = changed
      (audio, video) = (max(ownAudio, delays.audio), max(ownVideo, delays.video))
      each(delays)
    }
    return (delays, pathDifference + video - audio)
  }

  @Test func `nothing changes while the difference is below thirty milliseconds`() {
    var changes = 0
    for difference: Int64 in [-29, 0, 29] {
      _ = settle(pathDifference: .milliseconds(difference), ownAudio: .zero, ownVideo: .zero) { _ in changes += 1 }
    }
    #expect(changes == 0)
  }

  @Test func `sound waits for pictures that come later`() {
    let (delays, offset) = settle(
      pathDifference: .milliseconds(100), ownAudio: .milliseconds(40), ownVideo: .milliseconds(250))
    #expect(delays.video == .zero)
    #expect(delays.audio > .milliseconds(270) && offset < .milliseconds(40) && offset >= .zero)
  }

  @Test func `pictures wait for sound that comes later`() {
    let (delays, offset) = settle(
      pathDifference: .milliseconds(-200), ownAudio: .milliseconds(120), ownVideo: .milliseconds(40))
    #expect(delays.audio == .zero)
    #expect(delays.video > .milliseconds(270) && offset > .milliseconds(-40) && offset <= .zero)
  }

  @Test func `a step is half of the average of four, and at most eighty milliseconds`() {
    var synchronization = StreamSynchronization()
    // A quarter of 160 ms is the average after one update.
    let first = synchronization.update(difference: .milliseconds(160), audioDelay: .zero, videoDelay: .zero)
    #expect(first == Delays(audio: .milliseconds(20)))
    let second = synchronization.update(difference: .seconds(2), audioDelay: .zero, videoDelay: .zero)
    #expect(second == Delays(audio: .milliseconds(100)))
  }

  @Test func `what was added to sound is taken back before pictures are delayed`() {
    var synchronization = StreamSynchronization()
    var delays: [Delays] = []
    for difference: Int64 in [800, 800, -800, -800, -800] {
      let changed = synchronization.update(
        difference: .milliseconds(difference), audioDelay: .zero, videoDelay: .zero)
      if let changed { delays.append(changed) }
    }
    #expect(
      delays == [
        Delays(audio: .milliseconds(80)), Delays(audio: .milliseconds(160)), Delays(audio: .milliseconds(80)),
        // The last step that is taken back leaves the minimum as it was.
        Delays(audio: .milliseconds(80)), Delays(audio: .milliseconds(80), video: .milliseconds(80)),
      ])
  }

  @Test func `neither waits longer than ten seconds`() {
    let late = settle(pathDifference: .seconds(20), ownAudio: .zero, ownVideo: .zero, updates: 1_000)
    #expect(late.delays == Delays(audio: .seconds(10)))
    let early = settle(pathDifference: .seconds(-20), ownAudio: .zero, ownVideo: .zero, updates: 1_000)
    #expect(early.delays == Delays(video: .seconds(10)))
  }

  @Test func `the difference is that of the ways, whatever the clock of the sender shows`() {
    let clock = WallClock()
    let recorded = Instant.zero + .seconds(3)
    let audio = (captured: NTPTime(clock, at: recorded), arrival: recorded + .milliseconds(40))
    let later = recorded + .milliseconds(333)
    let video = (captured: NTPTime(clock, at: later), arrival: later + .milliseconds(290))
    let difference = StreamSynchronization.difference(audio: audio, video: video)
    #expect(difference.map { abs(($0 - .milliseconds(250)).nanoseconds) < 1_000 } == true)
    let strange = (captured: NTPTime(clock, at: later + .seconds(11)), arrival: later)
    #expect(StreamSynchronization.difference(audio: audio, video: strange) == nil)
  }
}
