package import CallCore
package import RTP

/// A whole frame as it was received, with what it needs to be decoded.
package struct EncodedFrame: Sendable {
  /// The frame's number in its stream, in decoding order. Frames of one picture have different numbers.
  package var id: Int64 = 0
  /// The numbers of the frames it refers to.
  package var references = FrameReferences()
  package var isKeyFrame: Bool
  package var timestamp: UInt32
  package var payloadType: UInt8
  package var format: VideoFormat
  /// The descriptor of the frame's first payload.
  package var descriptor: VideoPayload.Descriptor
  /// The Dependency Descriptor of the frame's first packet.
  package var dependencies: DependencyDescriptor?
  /// The bytes for the decoder: of H.264 a byte stream with start codes, of AV1 units with size fields.
  package var data: [UInt8]
  /// The picture's size in pixels; zero when the stream does not give it.
  package var width: UInt16
  package var height: UInt16
  package var spatialLayer: UInt8 = 0
  package var temporalLayer: UInt8 = 0
  /// Whether no other frame of the same picture follows.
  package var endsPicture: Bool
  /// The sequence numbers of the first and the last packet, extended over wraps.
  package var sequences: ClosedRange<Int64>
  package var firstArrival: Instant
  package var lastArrival: Instant
  /// Whether one of its packets had to be requested again. Its delay says nothing about the path.
  package var wasRetransmitted: Bool
}

/// Up to five frames that a frame refers to, as many as libwebrtc allows.
package struct FrameReferences: Sendable {
  package static let capacity = 5
  private var storage = InlineArray<5, Int64>(repeating: 0)
  package private(set) var count = 0

  package init() {}

  /// Adds a reference. Returns false when there are five.
  @discardableResult
  package mutating func append(_ id: Int64) -> Bool {
    guard count < Self.capacity else { return false }
    storage[count] = id
    count += 1
    return true
  }

  /// - Precondition: `index` is below ``count``.
  package subscript(index: Int) -> Int64 {
    precondition(index >= 0 && index < count, "no such reference")
    return storage[index]
  }

  package func allSatisfy(_ condition: (Int64) -> Bool) -> Bool {
    for index in 0..<count where !condition(storage[index]) { return false }
    return true
  }

  /// Replaces each reference.
  mutating func update(_ change: (Int64) -> Int64) {
    for index in 0..<count { storage[index] = change(storage[index]) }
  }

  /// The references in order.
  package var ids: [Int64] { (0..<count).map { storage[$0] } }
}
