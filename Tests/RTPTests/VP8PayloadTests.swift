import CallCore
import RTP
import Testing

@Suite struct VP8PayloadTests {
  /// Descriptors with their bytes, by the figures of RFC 7741 section 4.2 and the examples of its section 4.6.
  static let vectors: [(bytes: [UInt8], descriptor: VP8PayloadDescriptor)] = [
    // Section 4.6.1: a key frame in one packet.
    (
      [0x90, 0x80, 0x11],
      VP8PayloadDescriptor(beginsPartition: true, pictureID: .short(17))
    ),
    // Section 4.6.3: the second part of the first partition.
    ([0x80, 0x80, 0x11], VP8PayloadDescriptor(pictureID: .short(17))),
    // Section 4.6.5: a long picture number.
    ([0x90, 0x80, 0x92, 0x34], VP8PayloadDescriptor(beginsPartition: true, pictureID: .long(0x1234))),
    ([0x10], VP8PayloadDescriptor(beginsPartition: true)),
    ([0x35], VP8PayloadDescriptor(isNonReference: true, beginsPartition: true, partition: 5)),
    (
      [0x80, 0xF0, 0x80, 0x7F, 0xAA, 0xB5],
      VP8PayloadDescriptor(
        pictureID: .long(0x7F), temporalLayerZeroIndex: 0xAA, temporalLayer: 2, isLayerSync: true, keyFrameIndex: 21)
    ),
    ([0x80, 0x20, 0xC0], VP8PayloadDescriptor(temporalLayer: 3)),
    ([0x80, 0x10, 0x1F], VP8PayloadDescriptor(keyFrameIndex: 31)),
  ]

  @Test(arguments: vectors.indices) func `a descriptor is read and written as RFC 7741 draws it`(index: Int) {
    let (bytes, descriptor) = Self.vectors[index]
    var size = 0
    #expect(VP8PayloadDescriptor(bytes: bytes + [1, 2], size: &size) == descriptor)
    #expect(size == bytes.count)
    #expect(written { _ = descriptor.write(into: &$0) } == bytes)
    #expect(descriptor.encodedSize == bytes.count)
  }

  @Test func `a descriptor that ends early is refused`() {
    for (bytes, _) in Self.vectors {
      for count in 0..<bytes.count {
        var size = 0
        #expect(VP8PayloadDescriptor(bytes: Array(bytes[..<count]), size: &size) == nil)
      }
    }
  }

  @Test func `a picture number wraps at its own width`() {
    #expect(PictureID.short(127).next == .short(0))
    #expect(PictureID.long(127).next == .long(128))
    #expect(PictureID.long(0x7FFF).next == .long(0))
  }

  @Test func `only the first packet of a frame begins it`() throws {
    let frame = [UInt8](repeating: 0x11, count: 2_500)
    let descriptor = VP8PayloadDescriptor(isNonReference: true, partition: 3, pictureID: .long(5))
    let payloads = try #require(
      packetized(of: frame, as: .vp8(descriptor), limits: PayloadLimits(maximum: 1_000)))
    #expect(payloads.map(\.bytes.count) == [837, 837, 838])
    let starts = payloads.map { VideoPayload(bytes: $0.bytes, .vp8)?.start }
    #expect(starts == [.certainly, .no, .no])
    #expect(payloads.map(\.place.isLast) == [false, false, true])
  }

  @Test func `a payload is renumbered in its own widths, and nothing else of it changes`() throws {
    for (bytes, descriptor) in Self.vectors {
      var payload = bytes + [0xAB, 0xCD]
      VP8PayloadDescriptor.renumber(&payload, pictureID: 0x1_2345, base: 0x1FE)
      var expected = descriptor
      if let id = descriptor.pictureID { expected.pictureID = id.bitWidth == 7 ? .short(0x45) : .long(0x2345) }
      if descriptor.temporalLayerZeroIndex != nil { expected.temporalLayerZeroIndex = 0xFE }
      var size = 0
      #expect(VP8PayloadDescriptor(bytes: payload, size: &size) == expected)
      #expect(size == bytes.count && payload.suffix(2) == [0xAB, 0xCD])
    }
  }

  @Test func `what ends within its numbers is renumbered as far as it goes`() {
    for (bytes, _) in Self.vectors {
      for count in 0..<bytes.count {
        var payload = Array(bytes[..<count])
        VP8PayloadDescriptor.renumber(&payload, pictureID: 1, base: 1)
        #expect(payload.count == count)
      }
    }
  }
}
