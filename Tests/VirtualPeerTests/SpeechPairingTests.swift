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
  /// A frame that is heard, by the position of its first sample; none while the device stands still.
  private enum Frame { case at(Int), concealed, comfort, none }

  /// Plays frames, and returns the first samples that were said, with what became of the frames.
  private func pairs(_ frames: [Frame]) -> [(said: Int16?, fate: Fate)] {
    let tape = Self.tape()
    var pairing = SpeechPairing<Void>()
    var pairs: [(Int16?, Fate)] = []
    for (index, frame) in frames.enumerated() {
      let now = Instant.zero + .milliseconds(10) * Int64(index)
      let recorded = { tape.sound(at: $0, count: 480) }
      let note = { (said: [Int16]?, fate: SpeechPairing<Void>.Fate) in
        let fate: Fate =
          switch fate {
          case .played: .played
          case .replaced: .replaced
          case .leftOut: .leftOut
          }
        pairs.append((said?.first, fate))
      }
      switch frame {
      case .at(let sample): pairing.pair((), from: .sent(Self.position(sample)), at: now, recorded: recorded, note)
      case .concealed: pairing.pair((), from: .concealed, at: now, recorded: recorded, note)
      case .comfort: pairing.pair((), from: .comfort, at: now, recorded: recorded, note)
      case .none: pairing.standStill(at: now, recorded: recorded, note)
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

  @Test func `what a device missed while it stood still is left out once, also if some of it is heard late`() {
    let pairs = pairs([.at(0), .none, .none, .none, .none, .at(960), .at(480 * 12)])
    let missed = (1...4).map { ($0 * 480, Fate.leftOut) }
    let jumped = (5...11).map { ($0 * 480, Fate.leftOut) }
    let expected = [(0, Fate.played)] + missed + [(960, .played)] + jumped + [(5_760, .played)]
    #expect(pairs.map(\.said) == expected.map { Int16($0.0) })
    #expect(pairs.map(\.fate) == expected.map(\.1))
  }

  @Test func `what is heard late after concealment is followed from there`() {
    let pairs = pairs([.at(0), .concealed, .concealed, .at(480), .concealed])
    #expect(pairs.map(\.said) == [0, 480, 960, 480, 960])
  }

  @Test(arguments: [(3, 0), (6, 6), (10, 7)])
  func `what a new stream carried before it is heard is lost, as far as nothing else was due`(silent: Int, count: Int) {
    var pairing = SpeechPairing<Void>()
    let recorded = { (position: AudioPosition) -> (piece: Int, end: AudioPosition)? in
      let start = Int(position.timestamp)
      // The first stream ends after a piece, the second begins at 9,600.
      let isThere = position.ssrc == 7 ? start < 480 : (9_600..<48_000).contains(start)
      return isThere
        ? (start / 480, AudioPosition(ssrc: position.ssrc, timestamp: position.timestamp + 480)) : nil
    }
    var lost: [Int] = []
    let note = { (piece: Int?, fate: SpeechPairing<Void>.Fate) in
      if case .played = fate { return }
      lost.append(piece ?? -1)
    }
    pairing.pair((), from: .sent(Self.position(0)), at: .zero, recorded: recorded, note)
    // Without a track nothing is played. It is heard seven pieces after its beginning; up to four may be compression.
    let now = Instant.zero + .milliseconds(10) * Int64(silent)
    let position = AudioPosition(ssrc: 8, timestamp: 9_600 + 7 * 480)
    pairing.pair((), from: .sent(position), at: now, recorded: recorded, note)
    #expect(lost == Array(27 - count..<27))
  }

  @Test
  func `while a microphone stands still nothing is lost, and what it records then is given up 200 ms later`() {
    var pairing = SpeechPairing<Void>()
    var (recordedUntil, lost) = (480 * 10, [Int]())
    let recorded = { (position: AudioPosition) -> (piece: Int, end: AudioPosition)? in
      let start = Int(position.timestamp)
      return start < recordedUntil ? (start / 480, Self.position(start + 480)) : nil
    }
    pairing.pair((), from: .sent(Self.position(0)), at: .zero, recorded: recorded) { _, _ in }
    var counts: [Int] = []
    for tick in 1...200 {
      if tick > 100 { recordedUntil += 480 }
      pairing.pair((), from: .concealed, at: .zero, recorded: recorded) { piece, _ in lost.append(piece ?? -1) }
      counts.append(lost.count)
    }
    #expect(lost == Array(1...lost.count))
    #expect(counts[99] == 9 && counts[119] == 9 && counts[199] == 89)
  }

  @Test func `what is lost beyond what is heard in its place was left out`() {
    let pairs = pairs([.at(0), .comfort, .at(480 * 4)])
    #expect(pairs.map(\.fate) == [.played, .replaced, .leftOut, .leftOut, .played])
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
