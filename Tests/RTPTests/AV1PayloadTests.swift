import CallCore
import RTP
import Testing

/// A unit of AV1 with a size field.
func av1Unit(_ kind: UInt8, layers: UInt8? = nil, _ payload: [UInt8]) -> [UInt8] {
  var bytes: [UInt8] = [kind << 3 | (layers == nil ? 0 : 4) | 2] + (layers.map { [$0] } ?? [])
  var size = payload.count
  while size >= 128 {
    bytes.append(UInt8(size & 127) | 128)
    size >>= 7
  }
  return bytes + [UInt8(size)] + payload
}

@Suite struct AV1PayloadTests {
  func joined(_ payloads: [[UInt8]]) -> [UInt8]? {
    var builder = AV1FrameBuilder()
    var frame: [UInt8] = []
    builder.begin()
    for payload in payloads { builder.append(payload.span.bytes, to: &frame) }
    return builder.isWhole() ? frame : nil
  }

  // The cases of libwebrtc's rtp_packetizer_av1_unittest.
  @Test func `one unit travels without its size`() throws {
    let frame = av1Unit(6, [1, 2, 3, 4, 5, 6, 7])
    let payloads = try #require(packetized(of: frame, as: .av1(isKeyFrame: false), limits: .init(maximum: 100)))
    #expect(payloads.map(\.bytes) == [[0x10, 6 << 3, 1, 2, 3, 4, 5, 6, 7]])
    #expect(joined(payloads.map(\.bytes)) == frame)
  }

  @Test func `a unit's layers travel`() throws {
    let frame = av1Unit(6, layers: 0x48, [1, 2, 3])
    let payloads = try #require(packetized(of: frame, as: .av1(isKeyFrame: false), limits: .init(maximum: 100)))
    #expect(payloads.map(\.bytes) == [[0x10, 0x34, 0x48, 1, 2, 3]])
    #expect(joined(payloads.map(\.bytes)) == frame)
  }

  @Test func `delimiters, tile lists and padding do not travel`() throws {
    let sequence = av1Unit(1, [9])
    let picture = av1Unit(6, [1, 2])
    let frame = av1Unit(2, []) + sequence + av1Unit(8, [4]) + picture + av1Unit(15, [0, 0])
    let payloads = try #require(packetized(of: frame, as: .av1(isKeyFrame: true), limits: .init(maximum: 100)))
    // W is 2 and N is set.
    #expect(payloads.map(\.bytes) == [[0x28, 2, 0x08, 9, 0x30, 1, 2]])
    #expect(joined(payloads.map(\.bytes)) == sequence + picture)
  }

  @Test func `four units in a packet all have a size`() throws {
    let frame = (1...4).flatMap { av1Unit(5, [UInt8($0)]) }
    let payloads = try #require(packetized(of: frame, as: .av1(isKeyFrame: false), limits: .init(maximum: 100)))
    #expect(payloads.map(\.bytes) == [[0x00, 2, 40, 1, 2, 40, 2, 2, 40, 3, 2, 40, 4]])
    #expect(joined(payloads.map(\.bytes)) == frame)
  }

  @Test func `a unit that does not fit continues in the next packet`() throws {
    let frame = av1Unit(6, [11, 12, 13, 14, 15, 16])
    let payloads = try #require(packetized(of: frame, as: .av1(isKeyFrame: false), limits: .init(maximum: 6)))
    // Y on the first, Z on the second; both of about equal size.
    #expect(payloads.map(\.bytes) == [[0x50, 6 << 3, 11, 12, 13], [0x90, 14, 15, 16]])
    #expect(joined(payloads.map(\.bytes)) == frame)
    #expect(VideoPayload(bytes: payloads[0].bytes, .av1)?.start == .ifPreviousEnds)
    #expect(VideoPayload(bytes: payloads[1].bytes, .av1)?.start == .no)
  }

  @Test func `a frame with a missing or foreign part is not whole`() throws {
    let frame = av1Unit(6, [UInt8](repeating: 3, count: 50))
    let payloads = try #require(packetized(of: frame, as: .av1(isKeyFrame: false), limits: .init(maximum: 12)))
      .map(\.bytes)
    #expect(joined(payloads) == frame)
    #expect(joined(Array(payloads.dropLast())) == nil)
    #expect(joined(Array(payloads.dropFirst())) == nil)
    #expect(joined([payloads[0], payloads[0]] + payloads.dropFirst()) == nil)
  }

  @Test func `a payload whose sizes do not fill it is refused`() {
    #expect(VideoPayload(bytes: [0x00, 2, 0x30, 1], .av1) != nil)
    #expect(VideoPayload(bytes: [0x00, 3, 0x30, 1], .av1) == nil)
    #expect(VideoPayload(bytes: [0x20, 2, 0x30, 1], .av1) == nil)
    #expect(VideoPayload(bytes: [0x00, 0x80], .av1) == nil)
    #expect(VideoPayload(bytes: [0x10], .av1) == nil)
    // A new sequence cannot continue a unit.
    #expect(VideoPayload(bytes: [0x98, 1], .av1) == nil)
  }

  @Test func `a malformed frame is refused`() {
    let limits = PayloadLimits(maximum: 100)
    #expect(packetized(of: [], as: .av1(isKeyFrame: false), limits: limits) == nil)
    #expect(packetized(of: [0x32, 9, 1], as: .av1(isKeyFrame: false), limits: limits) == nil)
    #expect(packetized(of: [0xB2, 1, 1], as: .av1(isKeyFrame: false), limits: limits) == nil)
    #expect(packetized(of: av1Unit(6, [1]), as: .av1(isKeyFrame: false), limits: .init(maximum: 3)) == nil)
  }

  @Test func `the temporal layer is that of the first unit with an extension header`() {
    func layer(_ bytes: [UInt8]) -> UInt8? { AV1Payload.temporalLayer(of: bytes.span.bytes) }
    // A sequence header without an extension, then a frame of layer 2 with one.
    #expect(layer([0x20, 2, 0x08, 1, 0x34, 0x40, 7]) == 2)
    #expect(layer([0x10, 0x34, 0x20, 7]) == 1)
    // What continues a unit of the packet before it has no header.
    #expect(layer([0x90, 0x34, 0x20, 7]) == nil)
    #expect(layer([0xA0, 2, 0x34, 0x40, 0x34, 0x20]) == 1)
    #expect(layer([0x10, 0x30, 7]) == nil)
    #expect(layer([]) == nil)
  }
}
