import Codecs
import Testing

@Suite struct TemporalPatternTests {
  /// The references of each frame in turn; the encoder drops those at `dropped`.
  func references(layers: Int, frames: Int, dropped: Set<Int> = []) -> [TemporalPattern.Buffers] {
    var pattern = TemporalPattern(layerCount: layers)
    return (0..<frames).map { index in
      let step = pattern.next(forcingKeyFrame: false)
      if !dropped.contains(index) { _ = pattern.coded(step, isKeyFrame: index == 0) }
      return step.references
    }
  }

  @Test func `three layers use a buffer of the same round`() {
    let round: [TemporalPattern.Buffers] = [
      .last, .last, .last, [.last, .golden], .last, [.last, .golden], [.last, .golden], [.last, .golden],
    ]
    #expect(references(layers: 3, frames: 24) == [[]] + round.dropFirst() + round + round)
  }

  @Test func `a buffer that a dropped frame should have updated in this round is not used`() {
    // The tenth frame is the third of the second round, which updates the buffer of layer 1.
    let all = references(layers: 3, frames: 16, dropped: [10])
    #expect(all[11..<15] == [.last, .last, .last, .last])
    // The seventh frame of the round updates it all the same.
    #expect(all[15] == [.last, .golden])
    #expect(references(layers: 2, frames: 8, dropped: [5])[7] == .last)
  }

  @Test func `a dropped frame is not counted`() {
    var pattern = TemporalPattern(layerCount: 2)
    _ = pattern.coded(pattern.next(forcingKeyFrame: false), isKeyFrame: true)
    _ = pattern.next(forcingKeyFrame: false)
    let step = pattern.next(forcingKeyFrame: false)
    let (number, layer) = pattern.coded(step, isKeyFrame: false)
    #expect(number == 1)
    #expect(layer.id == 0 && layer.baseIndex == 1 && layer.dependencies == [1])
  }
}
