import CallCore
import RTP
import Testing

@Suite struct VP9PayloadTests {
  /// Descriptors with their bytes, by the figures of RFC 9628 section 4.2.
  static let vectors: [(bytes: [UInt8], descriptor: VP9PayloadDescriptor)] = [
    ([0x08], VP9PayloadDescriptor(beginsFrame: true)),
    (
      [0x8D, 0x11],
      VP9PayloadDescriptor(pictureID: .short(17), beginsFrame: true, endsFrame: true, isNotReferencedAbove: true)
    ),
    // Figure 3, non-flexible mode: a long number, the layers and TL0PICIDX.
    (
      [0xE4, 0x92, 0x34, 0x53, 0x2A],
      VP9PayloadDescriptor(
        pictureID: .long(0x1234), isInterPicturePredicted: true,
        layer: .init(temporal: 2, spatial: 1, isSwitchingUpPoint: true, isInterLayerPredicted: true),
        temporalLayerZeroIndex: 42, endsFrame: true)
    ),
    // Figure 2, flexible mode: three distances.
    (
      [0xF0, 0x05, 0x20, 0x03, 0x09, 0xFE],
      VP9PayloadDescriptor(
        pictureID: .short(5), isInterPicturePredicted: true, layer: .init(temporal: 1), isFlexible: true,
        references: [1, 4, 127])
    ),
    // Figure 4: two spatial layers with their sizes, and a group of two pictures.
    (
      [
        0xAA, 0x01, 0x00, 0x07, 0x38, 0x01, 0x40, 0x00, 0xB4, 0x02, 0x80, 0x01, 0x68, 0x02, 0x04, 0x02, 0x38, 0x01,
        0x02,
      ],
      VP9PayloadDescriptor(
        pictureID: .short(1), layer: .init(), temporalLayerZeroIndex: 7, beginsFrame: true,
        structure: VP9ScalabilityStructure(
          spatialLayerCount: 2, resolutions: [.init(width: 320, height: 180), .init(width: 640, height: 360)],
          pictures: [
            .init(temporalLayer: 0, references: [2]),
            .init(temporalLayer: 1, isSwitchingUpPoint: true, references: [1, 2]),
          ]))
    ),
  ]

  @Test(arguments: vectors.indices) func `a descriptor is read and written as RFC 9628 draws it`(index: Int) {
    let (bytes, descriptor) = Self.vectors[index]
    var size = 0
    #expect(VP9PayloadDescriptor(bytes: bytes + [9], size: &size) == descriptor)
    #expect(size == bytes.count)
    #expect(written { _ = descriptor.write(into: &$0) } == bytes)
    #expect(descriptor.encodedSize == bytes.count)
  }

  @Test func `a descriptor that ends early is refused`() {
    for (bytes, _) in Self.vectors {
      for count in 0..<bytes.count {
        var size = 0
        #expect(VP9PayloadDescriptor(bytes: Array(bytes[..<count]), size: &size) == nil)
      }
    }
  }

  @Test func `a fourth reference is refused`() {
    var size = 0
    #expect(VP9PayloadDescriptor(bytes: [0xD0, 0x05, 0x03, 0x03, 0x03, 0x02, 0], size: &size) == nil)
    #expect(
      VP9PayloadDescriptor(bytes: [0xD0, 0x05, 0x03, 0x03, 0x02, 0x02, 0], size: &size)?.references == [1, 1, 1])
  }

  @Test func `only the first packet of a frame has the structure, and the last one ends it`() throws {
    let descriptor = Self.vectors[4].descriptor
    let payloads = try #require(
      packetized(
        of: [UInt8](repeating: 1, count: 250), as: .vp9(descriptor), limits: PayloadLimits(maximum: 100)))
    let read = payloads.compactMap { payload -> VP9PayloadDescriptor? in
      var size = 0
      return VP9PayloadDescriptor(bytes: payload.bytes, size: &size)
    }
    #expect(read.map(\.beginsFrame) == [true, false, false])
    #expect(read.map(\.endsFrame) == [false, false, true])
    #expect(read.map { $0.structure != nil } == [true, false, false])
    #expect(payloads.allSatisfy { $0.bytes.count <= 100 })
    #expect(VideoPayload(bytes: payloads[0].bytes, .vp9)?.width == 320)
  }
}
