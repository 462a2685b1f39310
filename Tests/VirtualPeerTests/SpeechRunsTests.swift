import Testing

@testable import VirtualPeer

/// Where somebody speaks in a stream.
@Suite struct SpeechRunsTests {
  @Test(arguments: [0, UInt32.max - 1_000])
  func `speech is found where it was recorded, however long ago`(first: UInt32) {
    let frames = (0..<500).map { $0 % 7 < 3 || $0 == 5 }
    var runs = SpeechRuns()
    for (number, isSpeech) in frames.enumerated() {
      runs.add(before: first &+ UInt32(number + 1) * 80, ticks: 80, isSpeech: isSpeech)
    }
    for (number, isSpeech) in frames.enumerated() {
      for tick in [0, 79] as [UInt32] {
        #expect(runs.isSpeech(at: first &+ (UInt32(number) * 80 + tick)) == isSpeech)
      }
    }
    #expect(runs.isSpeech(at: first &+ 500 * 80) == nil)
    #expect(runs.isSpeech(at: first &- 1) == nil)
  }

  @Test func `between frames that do not follow each other nobody speaks`() {
    var runs = SpeechRuns()
    runs.add(before: 80, ticks: 80, isSpeech: true)
    runs.add(before: 400, ticks: 80, isSpeech: true)
    #expect([79, 80, 319, 320].map { runs.isSpeech(at: $0) } == [true, false, false, true])
  }
}
