import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct FrameBufferTests {
  func frame(
    _ id: Int64, _ references: [Int64] = [], timestamp: UInt32? = nil, isKeyFrame: Bool? = nil, endsPicture: Bool = true
  ) -> EncodedFrame {
    var frame = EncodedFrame(
      isKeyFrame: isKeyFrame ?? references.isEmpty, timestamp: timestamp ?? UInt32(truncatingIfNeeded: id * 3_000),
      payloadType: 96, format: .generic,
      descriptor: .generic(GenericPayloadDescriptor(isKeyFrame: false, beginsFrame: true)), data: [], width: 0,
      height: 0, endsPicture: endsPicture, sequences: id * 10...id * 10 + 9, firstArrival: .zero, lastArrival: .zero,
      wasRetransmitted: false)
    frame.id = id
    for reference in references { frame.references.append(reference) }
    return frame
  }

  func insert(_ frames: [EncodedFrame], into buffer: inout FrameBuffer) -> [FrameBuffer.Insertion] {
    frames.map { buffer.insert($0) }
  }

  func take(_ buffer: inout FrameBuffer) -> [Int64] { buffer.takeNext().map(\.id) }

  @Test func `a frame is decodable once its references were decoded`() {
    var buffer = FrameBuffer()
    _ = insert([frame(1, [], isKeyFrame: true), frame(3, [2]), frame(2, [1])], into: &buffer)
    let taken = (0..<4).map { _ in take(&buffer) }
    #expect(taken == [[1], [2], [3], []])
  }

  @Test func `a frame whose reference is missing is not decodable`() {
    var buffer = FrameBuffer()
    _ = insert([frame(1), frame(3, [2])], into: &buffer)
    let taken = (0..<2).map { _ in take(&buffer) }
    #expect(taken == [[1], []])
    #expect(buffer.lastContinuousSequence == 19)
  }

  @Test func `a reference that was passed over is not decoded`() {
    var buffer = FrameBuffer()
    _ = insert([frame(1), frame(2, [1]), frame(3, [1]), frame(4, [2])], into: &buffer)
    _ = take(&buffer)
    buffer.dropNext()
    let taken = (0..<2).map { _ in take(&buffer) }
    #expect(taken == [[3], []])
    #expect(buffer.droppedCount == 1)
  }

  @Test func `the frames of a picture are taken together and only when all are there`() {
    var buffer = FrameBuffer()
    _ = insert([frame(8, timestamp: 0, endsPicture: false)], into: &buffer)
    #expect(buffer.nextDecodableTimestamp == nil)
    _ = insert([frame(9, [8], timestamp: 0)], into: &buffer)
    let taken = take(&buffer)
    #expect(taken == [8, 9])
    _ = insert(
      [frame(16, [8], timestamp: 3_000, endsPicture: false), frame(17, [9, 15], timestamp: 3_000)], into: &buffer)
    #expect(buffer.nextDecodableTimestamp == nil)
  }

  @Test func `frames before the one that is taken are dropped`() {
    var buffer = FrameBuffer()
    _ = insert([frame(2, [1]), frame(3, [2]), frame(4, [], isKeyFrame: true)], into: &buffer)
    let taken = take(&buffer)
    #expect(taken == [4])
    #expect(buffer.droppedCount == 2)
    let late = buffer.insert(frame(3, [2]))
    #expect(late == .old)
  }

  @Test func `the last decodable picture is known for skipping`() {
    var buffer = FrameBuffer()
    _ = insert([frame(1), frame(2, [], isKeyFrame: true), frame(3, [2])], into: &buffer)
    #expect(buffer.nextDecodableTimestamp == 3_000)
    // Frame 3 needs 2 decoded first.
    #expect(buffer.lastDecodableTimestamp == 6_000)
  }

  @Test func `references forward, to itself and twice to one frame are refused`() {
    var buffer = FrameBuffer()
    let results = insert([frame(1, [1]), frame(1, [2]), frame(3, [1, 1]), frame(3, [1, 2])], into: &buffer)
    #expect(results == [.invalidReferences, .invalidReferences, .invalidReferences, .inserted])
  }

  @Test func `a copy is refused`() {
    var buffer = FrameBuffer()
    let results = insert([frame(1), frame(2, [1]), frame(1)], into: &buffer)
    #expect(results == [.inserted, .inserted, .old])
  }

  @Test func `a full buffer of 800 refuses a delta frame and is cleared by a key frame`() {
    var buffer = FrameBuffer()
    let results = insert((1...801).map { frame($0, [$0 - 1]) }, into: &buffer)
    #expect(results.firstIndex(of: .full) == 800)
    let key = buffer.insert(frame(900))
    #expect(key == .inserted)
    #expect(buffer.count == 1)
    #expect(buffer.droppedCount == 800)
    let taken = take(&buffer)
    #expect(taken == [900])
  }

  @Test func `a key frame with an older number but a newer time begins a new stream`() {
    var buffer = FrameBuffer()
    _ = insert([frame(5_000, timestamp: 90_000)], into: &buffer)
    _ = take(&buffer)
    let results = insert(
      [frame(7, [6], timestamp: 93_000), frame(7, timestamp: 87_000), frame(7, timestamp: 93_000)], into: &buffer)
    #expect(results == [.old, .old, .inserted])
    let taken = take(&buffer)
    #expect(taken == [7])
  }

  @Test func `decoded frames are remembered for 8192 numbers`() {
    var history = DecodedFrameHistory(capacity: 8_192)
    for id: Int64 in [3, 5, 6, 8_194] { history.insert(id, timestamp: 0) }
    #expect(history.contains(3) && history.contains(6) && history.contains(8_194))
    #expect(!history.contains(4) && !history.contains(8_195))
    history.insert(8_195, timestamp: 0)
    #expect(!history.contains(3) && history.contains(5))
    // The place of 5 is that of a number that is passed over.
    history.insert(8_198, timestamp: 0)
    #expect(!history.contains(8_197) && history.contains(8_198))
    history.insert(100_000, timestamp: 0)
    #expect(!history.contains(8_195) && history.contains(100_000))
    // The bits of numbers that share a place are told apart.
    #expect(!history.contains(100_000 - 8_192))
  }
}
