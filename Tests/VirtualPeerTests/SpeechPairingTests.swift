import CallCore
import PeerSession
import Testing

@testable import VirtualPeer

/// What is heard beside what was said, on a ramp whose samples tell their positions.
@Suite struct SpeechPairingTests {
  private static func position(_ sample: Int) -> AudioPosition { AudioPosition(ssrc: 7, timestamp: UInt32(sample)) }

  /// Returns a tape of 300 ms with a ramp from position 0.
  private static func tape(delay: Interval = .zero, clockRate: UInt32 = 48_000) -> MicrophoneTape {
    var tape = MicrophoneTape()
    for frame in 0..<30 {
      tape.frame = (0..<480).map { Int16(frame * 480 + $0) }
      tape.keep(
        before: RecordingPosition(
          AudioPosition(ssrc: 7, timestamp: UInt32((frame + 1) * 480) * clockRate / 48_000), clockRate: clockRate,
          codecDelay: delay))
    }
    return tape
  }

  private enum Fate: Hashable { case played, replaced, leftOut }
  /// A frame that is heard, by the position of its first sample.
  private enum Frame { case at(Int), concealed, comfort }

  /// Plays frames, and returns the first samples that were said, with what became of the frames.
  private func pairs(_ frames: [Frame]) -> [(said: Int16?, fate: Fate)] {
    let tape = Self.tape()
    var pairing = SpeechPairing<Void>()
    var pairs: [(Int16?, Fate)] = []
    for frame in frames {
      let place: PlayedPlace =
        switch frame {
        case .at(let sample): .sent(Self.position(sample))
        case .concealed: .concealed
        case .comfort: .comfort
        }
      pairing.pair((), from: place, recorded: { tape.sound(at: $0, count: 480) }) { said, fate in
        let fate: Fate =
          switch fate {
          case .played: .played
          case .replaced: .replaced
          case .leftOut: .leftOut
          }
        pairs.append((said?.first, fate))
      }
    }
    return pairs
  }

  @Test func `a sample stands beside the one that was recorded at its position`() {
    #expect(pairs([.at(960), .at(1_440)]).map(\.said) == [960, 1_440])
  }

  @Test func `concealed sound stands beside what was said meanwhile`() {
    let pairs = pairs([.at(480), .concealed, .concealed, .at(1_920)])
    #expect(pairs.map(\.said) == [480, 960, 1_440, 1_920])
    #expect(pairs.map(\.fate) == [.played, .replaced, .replaced, .played])
  }

  @Test func `what is concealed at the end of a call is lost, and not only when sound comes again`() {
    #expect(pairs([.at(480), .concealed, .concealed]).map(\.fate) == [.played, .replaced, .replaced])
  }

  @Test func `what comes later than the comfort noise before it is not lost, and that noise stands beside silence`() {
    let pairs = pairs([.at(480), .comfort, .comfort, .comfort, .at(1_440), .at(1_920)])
    #expect(pairs.map(\.said) == [480, 960, nil, nil, 1_440, 1_920])
    #expect(pairs.map(\.fate) == [.played, .replaced, .replaced, .replaced, .played, .played])
  }

  @Test func `what does not come after half a second of comfort noise more is given up, piece by piece`() {
    let pairs = pairs([.at(480)] + Array(repeating: .comfort, count: 53))
    #expect(pairs.map(\.said) == [480, 960, 1_440, 1_920])
    #expect(pairs.map(\.fate) == [.played, .replaced, .replaced, .replaced])
  }

  @Test func `where nothing is recorded any more, nothing is lost, and what is recorded later is not given up early`() {
    let pairs = pairs([.at(480 * 28), .concealed, .concealed, .concealed, .at(480 * 28)])
    let said: [Int16?] = [13_440, 13_920, 13_440]
    #expect(pairs.map(\.said) == said)
  }

  @Test func `sound before the first known position has no partner`() {
    #expect(pairs([.concealed, .at(480)]).map(\.said) == [480])
  }

  @Test func `after stretched or compressed sound the recording goes on at the new position`() {
    let pairs = pairs([.at(960), .at(1_200), .at(2_160)])
    #expect(pairs.map(\.said) == [960, 1_200, 2_160])
    #expect(pairs.map(\.fate) == [.played, .played, .played])
  }

  @Test func `of what was left out nothing is heard`() {
    let pairs = pairs([.at(0), .at(480 * 6)])
    #expect(pairs.map(\.said) == [0, 480, 960, 1_440, 1_920, 2_400, 2_880])
    #expect(pairs.map(\.fate) == [.played] + Array(repeating: .leftOut, count: 5) + [.played])
  }

  @Test func `what is lost beyond what is heard in its place was left out`() {
    let pairs = pairs([.at(0), .comfort, .at(480 * 4)])
    #expect(pairs.map(\.fate) == [.played, .replaced, .leftOut, .leftOut, .played])
  }

  @Test(arguments: [(9.0, 900), (10, 1_000), (11, 1_000), (3_600, 1_000)])
  func `of what was left out for longer than ten seconds the last ten count`(seconds: Double, count: Int) {
    var pairing = SpeechPairing<Void>(longestGap: 1_000)
    var lost = 0
    for sample in [0, 480, 480 + Int(seconds * 48_000) + 480] {
      // Fifteen seconds before the newest sample are kept.
      let recorded = { (position: AudioPosition) -> (piece: Bool, end: AudioPosition)? in
        guard Int(position.timestamp) > sample - 720_000 else { return nil }
        return (true, Self.position(Int(position.timestamp) + 480))
      }
      pairing.pair((), from: .sent(Self.position(sample)), recorded: recorded) { _, fate in
        if case .leftOut = fate { lost += 1 }
      }
    }
    #expect(lost == count)
  }

  @Test func `the delay of the codec is taken into account`() {
    let sound = Self.tape(delay: .microseconds(6_500)).sound(at: Self.position(960), count: 480)
    #expect(sound?.piece.first == 648)
    #expect(sound?.end == Self.position(1_440))
  }

  @Test func `a slower media clock has several samples in a tick`() {
    let sound = Self.tape(clockRate: 8_000).sound(at: Self.position(160), count: 480)
    #expect(sound?.piece.first == 960)
    #expect(sound?.end == Self.position(240))
  }

  @Test func `a muted microphone says nothing`() {
    var tape = MicrophoneTape()
    tape.frame = Array(repeating: 5, count: 480)
    var position = RecordingPosition(Self.position(480), clockRate: 48_000, codecDelay: .zero)
    position.isMuted = true
    tape.keep(before: position)
    #expect(tape.sound(at: Self.position(0), count: 480)?.piece == Array(repeating: 0, count: 480))
  }

  @Test func `after a gap in the positions earlier sound is gone`() {
    var tape = Self.tape()
    tape.keep(before: RecordingPosition(Self.position(100_000), clockRate: 48_000, codecDelay: .zero))
    #expect(tape.sound(at: Self.position(13_920), count: 480) == nil)
    #expect(tape.sound(at: Self.position(99_520), count: 480) != nil)
  }
}
