import CallCore
import RTP
import Testing

@Suite struct DescriptorSequenceTests {
  @Test func `VP8 frames are numbered on, and TL0PICIDX counts the lowest layer`() {
    var random = RandomSource(seed: 1).stream("vp8")
    var sequence = VP8DescriptorSequence(random: &random)
    let frames = [0, 2, 1, 2, 0].map { sequence.next(temporalLayer: $0) }
    let first = frames[0].pictureID?.value ?? 0
    #expect(frames.map(\.pictureID) == (0..<5).map { .long(first &+ $0) })
    let base = frames[0].temporalLayerZeroIndex ?? 0
    #expect(frames.map(\.temporalLayerZeroIndex) == [base, base, base, base, base &+ 1])
    #expect(sequence.next().temporalLayerZeroIndex == nil)
  }

  @Test func `numbers wrap at fifteen and eight bits`() {
    var random = RandomSource(seed: 2).stream("vp8")
    var sequence = VP8DescriptorSequence(random: &random)
    let frames = (0..<70_000).map { _ in sequence.next(temporalLayer: 0) }
    let isRight = zip(frames, frames.dropFirst()).allSatisfy { a, b in
      a.pictureID?.next == b.pictureID && a.temporalLayerZeroIndex.map { $0 &+ 1 } == b.temporalLayerZeroIndex
    }
    #expect(isRight)
  }

  @Test func `the layer frames of a VP9 picture share its number`() {
    var random = RandomSource(seed: 3).stream("vp9")
    var sequence = VP9DescriptorSequence(random: &random)
    sequence.beginPicture()
    let low = sequence.frame(isInterPicturePredicted: false)
    let high = sequence.frame(isInterPicturePredicted: false, layer: .init(spatial: 1, isInterLayerPredicted: true))
    sequence.beginPicture(temporalLayer: 1)
    let next = sequence.frame(isInterPicturePredicted: true, layer: .init(temporal: 1))
    let flexible = sequence.frame(references: [1])
    #expect(low.pictureID == high.pictureID && low.pictureID?.next == next.pictureID)
    #expect(low.temporalLayerZeroIndex == next.temporalLayerZeroIndex)
    #expect(flexible.isFlexible && flexible.isInterPicturePredicted && flexible.temporalLayerZeroIndex == nil)
    #expect(!sequence.frame(references: []).isInterPicturePredicted)
  }
}
