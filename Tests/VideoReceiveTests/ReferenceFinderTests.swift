import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct ReferenceFinderTests {
  /// A whole frame of one packet.
  func frame(
    _ descriptor: VideoPayload.Descriptor, _ format: VideoFormat, isKeyFrame: Bool, sequence: Int64 = 0,
    dependencies: DependencyDescriptor? = nil
  ) -> EncodedFrame {
    EncodedFrame(
      isKeyFrame: isKeyFrame, timestamp: UInt32(truncatingIfNeeded: sequence * 3_000), payloadType: 96, format: format,
      descriptor: descriptor, dependencies: dependencies, data: [], width: 0, height: 0, endsPicture: true,
      sequences: sequence...sequence, firstArrival: .zero, lastArrival: .zero, wasRetransmitted: false)
  }

  func vp8(
    _ id: UInt16, _ base: UInt8, layer: UInt8 = 0, isSync: Bool = false, isKeyFrame: Bool = false, isShort: Bool = false
  ) -> EncodedFrame {
    let descriptor = VP8PayloadDescriptor(
      pictureID: isShort ? .short(UInt8(id & 0x7F)) : .long(id), temporalLayerZeroIndex: base, temporalLayer: layer,
      isLayerSync: isSync)
    return frame(.vp8(descriptor), .vp8, isKeyFrame: isKeyFrame, sequence: Int64(id))
  }

  /// The numbers and references that come out, relative to the first frame's number.
  func found(_ frames: [EncodedFrame], by finder: inout FrameReferenceFinder) -> [[Int64]] {
    var out: [EncodedFrame] = []
    for frame in frames { finder.insert(frame, into: &out) }
    return out.map { [$0.id] + $0.references.ids }
  }

  func found(_ frames: [EncodedFrame]) -> [[Int64]] {
    var finder = FrameReferenceFinder()
    return found(frames, by: &finder)
  }

  // The layer structures are those of libwebrtc's rtp_vp8_ref_finder_unittest.
  @Test func `frames of one temporal layer refer to the one before`() {
    let frames = [vp8(100, 1, isKeyFrame: true), vp8(101, 2), vp8(102, 3)]
    #expect(found(frames) == [[100], [101, 100], [102, 101]])
  }

  @Test func `upper layers refer to the last frame of each layer below`() {
    // Layers 0 2 1 2.
    let frames = [
      vp8(0, 1, isKeyFrame: true), vp8(1, 1, layer: 2, isSync: true), vp8(2, 1, layer: 1, isSync: true),
      vp8(3, 1, layer: 2), vp8(4, 2), vp8(5, 2, layer: 2), vp8(6, 2, layer: 1), vp8(7, 2, layer: 2),
    ]
    #expect(
      found(frames) == [
        [0], [1, 0], [2, 0], [3, 0, 2, 1], [4, 0], [5, 4, 2, 3], [6, 4, 2], [7, 4, 6, 5],
      ])
  }

  @Test func `a frame ahead of its base frame waits for it`() {
    let frames = [vp8(10, 1, isKeyFrame: true), vp8(12, 2, layer: 1, isSync: true), vp8(11, 2)]
    #expect(found(frames) == [[10], [11, 10], [12, 11]])
  }

  @Test func `a frame behind a missing one waits, because that may be what it refers to`() {
    let frames = [
      vp8(0, 1, isKeyFrame: true), vp8(1, 1, layer: 1, isSync: true), vp8(4, 2, layer: 1), vp8(3, 2),
      vp8(2, 1, layer: 1),
    ]
    // Frame 2 is of the layer, and 4 refers to it.
    #expect(found(frames) == [[0], [1, 0], [3, 0], [2, 0, 1], [4, 3, 2]])
  }

  @Test func `a layer frame that a later sync frame made useless is dropped`() {
    let frames = [
      vp8(0, 1, isKeyFrame: true), vp8(1, 1, layer: 1, isSync: true), vp8(3, 1, layer: 1, isSync: true),
      vp8(2, 1, layer: 1),
    ]
    #expect(found(frames) == [[0], [1, 0], [3, 0]])
  }

  @Test func `a late frame of an old base frame does not replace a newer one of its layer`() {
    let frames = [
      vp8(0, 1, isKeyFrame: true), vp8(2, 2), vp8(3, 2, layer: 1, isSync: true), vp8(1, 1, layer: 1, isSync: true),
      vp8(4, 2, layer: 1),
    ]
    #expect(found(frames) == [[0], [2, 0], [3, 2], [1, 0], [4, 2, 3]])
  }

  @Test func `picture numbers and TL0PICIDX go on over their wraps`() {
    #expect(
      found([vp8(0x7FFE, 254, isKeyFrame: true), vp8(0x7FFF, 255), vp8(0, 0), vp8(1, 1)]) == [
        [0x7FFE], [0x7FFF, 0x7FFE], [0x8000, 0x7FFF], [0x8001, 0x8000],
      ])
    #expect(
      found((126...129).map { vp8($0, UInt8($0 - 126), isKeyFrame: $0 == 126, isShort: true) }) == [
        [126], [127, 126], [128, 127], [129, 128],
      ])
  }

  @Test func `a retransmission of the base frame far in the past is not taken for a new one`() {
    var frames = [vp8(0, 0, isKeyFrame: true)]
    frames += (1...60).map { vp8($0, UInt8($0)) }
    frames.append(vp8(3, 3))
    #expect(found(frames).count == 61)
  }

  @Test func `another width of picture numbers begins ahead of all, and refers to nothing before`() {
    var finder = FrameReferenceFinder()
    let first = found([vp8(100, 1, isKeyFrame: true), vp8(101, 2)], by: &finder)
    let second = found([vp8(5, 3, isKeyFrame: true, isShort: true), vp8(6, 4, isShort: true)], by: &finder)
    #expect(second.count == 2)
    #expect(second[0].count == 1 && second[0][0] > first[1][0])
    #expect(second[1] == [second[0][0] + 1, second[0][0]])
  }

  @Test func `frames that wait are bounded`() {
    var finder = FrameReferenceFinder()
    let out = found((1...150).map { vp8($0, UInt8($0), layer: 1) }, by: &finder)
    #expect(out.isEmpty)
    #expect(finder.stashedCount == FrameReferenceFinder.maximumStashed)
    #expect(finder.droppedCount == 50)
  }

  func vp9(
    _ id: UInt16, _ base: UInt8, temporal: UInt8 = 0, spatial: UInt8 = 0, isPredicted: Bool = true,
    fromBelow: Bool = false, isSwitch: Bool = false, structure: VP9ScalabilityStructure? = nil
  ) -> EncodedFrame {
    let descriptor = VP9PayloadDescriptor(
      pictureID: .long(id), isInterPicturePredicted: isPredicted,
      layer: .init(
        temporal: temporal, spatial: spatial, isSwitchingUpPoint: isSwitch, isInterLayerPredicted: fromBelow),
      temporalLayerZeroIndex: base, structure: structure)
    return frame(.vp9(descriptor), .vp9, isKeyFrame: !isPredicted, sequence: Int64(id))
  }

  /// Temporal layers 0 2 1 2.
  static let threeLayers = VP9ScalabilityStructure(pictures: [
    .init(temporalLayer: 0, references: [4]), .init(temporalLayer: 2, isSwitchingUpPoint: true, references: [1]),
    .init(temporalLayer: 1, isSwitchingUpPoint: true, references: [2]), .init(temporalLayer: 2, references: [1, 2]),
  ])

  @Test func `the group of pictures gives the references of non-flexible VP9`() {
    let frames = [
      vp9(0, 1, isPredicted: false, structure: Self.threeLayers), vp9(1, 1, temporal: 2), vp9(2, 1, temporal: 1),
      vp9(3, 1, temporal: 2), vp9(4, 2), vp9(5, 2, temporal: 2), vp9(6, 2, temporal: 1), vp9(7, 2, temporal: 2),
    ]
    let expected: [[Int64]] = [[0], [1, 0], [2, 0], [3, 2, 1], [4, 0], [5, 4], [6, 4], [7, 6, 5]]
    #expect(found(frames) == expected.map { $0.map { $0 * 8 } })
  }

  @Test func `a VP9 frame ahead of its base frame waits for it`() {
    let frames = [
      vp9(0, 1, isPredicted: false, structure: Self.threeLayers), vp9(5, 2, temporal: 2), vp9(4, 2),
      vp9(2, 1, temporal: 1), vp9(3, 1, temporal: 2),
    ]
    #expect(found(frames).map { $0[0] / 8 } == [0, 4, 5, 2, 3])
  }

  @Test func `a VP9 frame waits for a lower layer's picture that may be a point to switch up`() {
    let frames = [
      vp9(0, 1, isPredicted: false, structure: Self.threeLayers), vp9(1, 1, temporal: 2), vp9(3, 1, temporal: 2),
      vp9(2, 1, temporal: 1),
    ]
    #expect(found(frames).map { $0[0] / 8 } == [0, 1, 2, 3])
  }

  @Test func `a VP9 frame refers to nothing before the point at which its layer was switched up to`() {
    let frames = [
      vp9(0, 1, isPredicted: false, structure: Self.threeLayers), vp9(1, 1, temporal: 2),
      vp9(2, 1, temporal: 1, isSwitch: true), vp9(3, 1, temporal: 2),
    ]
    #expect(found(frames).last == [24, 16])
  }

  @Test func `spatial layers refer to the one below and to their own past`() {
    let frames = [
      vp9(9, 1, isPredicted: false, structure: VP9ScalabilityStructure(spatialLayerCount: 2)),
      vp9(9, 1, spatial: 1, isPredicted: false, fromBelow: true), vp9(10, 2), vp9(10, 2, spatial: 1, fromBelow: true),
    ]
    #expect(found(frames) == [[72], [73, 72], [80, 72], [81, 73, 80]])
  }

  @Test func `flexible VP9 gives its own references`() {
    func flexible(_ id: UInt16, _ references: VP9References) -> EncodedFrame {
      let descriptor = VP9PayloadDescriptor(
        pictureID: .long(id), isInterPicturePredicted: references.count > 0, layer: .init(), isFlexible: true,
        references: references)
      return frame(.vp9(descriptor), .vp9, isKeyFrame: references.count == 0)
    }
    #expect(
      found([flexible(20, []), flexible(23, [3]), flexible(24, [1, 4])]) == [[160], [184, 160], [192, 184, 160]])
  }

  @Test func `a VP9 key frame without a structure is of no use`() {
    #expect(found([vp9(0, 1, isPredicted: false), vp9(1, 2)]).isEmpty)
  }

  func plain(_ sequences: ClosedRange<Int64>, isKeyFrame: Bool = false) -> EncodedFrame {
    let payload = VideoPayload.Descriptor.av1(AV1AggregationHeader())
    var result = frame(payload, .av1, isKeyFrame: isKeyFrame, sequence: sequences.lowerBound)
    result.sequences = sequences
    return result
  }

  @Test func `without picture numbers a frame refers to the one whose packets precede its own`() {
    let frames = [plain(10...12, isKeyFrame: true), plain(15...15), plain(13...14), plain(16...20)]
    #expect(found(frames) == [[12], [14, 12], [15, 14], [20, 15]])
  }

  @Test func `padding leaves no gap between frames`() {
    var finder = FrameReferenceFinder()
    var out: [EncodedFrame] = []
    finder.insert(plain(10...12, isKeyFrame: true), into: &out)
    finder.insert(plain(15...15), into: &out)
    finder.insertPadding(14, into: &out)
    #expect(out.count == 1)
    finder.insertPadding(13, into: &out)
    #expect(out.map { [$0.id] + $0.references.ids } == [[12], [15, 12]])
  }

  @Test func `a frame before any key frame waits`() {
    #expect(found([plain(11...11), plain(10...10, isKeyFrame: true)]) == [[10], [11, 10]])
    #expect(found([plain(9...9), plain(10...10, isKeyFrame: true)]) == [[10]])
  }

  @Test func `the Dependency Descriptor's distances are references`() {
    func described(_ number: UInt16, _ distances: [Int]) -> EncodedFrame {
      let descriptor = DependencyDescriptor(
        isFirstPacket: true, isLastPacket: true, frameNumber: number,
        dependencies: FrameDependencies(spatialLayer: 1, temporalLayer: 2, frameDistances: distances))
      return frame(
        .av1(AV1AggregationHeader()), .av1, isKeyFrame: distances.isEmpty, dependencies: descriptor)
    }
    #expect(
      found([described(65_535, []), described(0, [1]), described(3, [3, 4])]) == [
        [65_535], [65_536, 65_535], [65_539, 65_536, 65_535],
      ])
    // More references than a frame can have.
    #expect(found([described(9, [1, 2, 3, 4, 5, 6])]).isEmpty)
  }
}
