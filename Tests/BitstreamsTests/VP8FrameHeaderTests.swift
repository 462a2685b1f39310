import Bitstreams
import Testing

@Suite struct VP8FrameHeaderTests {
  @Test func `a key frame gives its size without the scaling bits`() {
    let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x42, 0xE0, 0x81]
    let header = VP8FrameHeader(parsing: frame.span.bytes)
    #expect(header?.isKeyFrame == true)
    #expect(header?.isShown == true)
    #expect(header?.width == 640)
    #expect(header?.height == 480)
  }

  @Test func `a key frame without its start code is no frame`() {
    let frame: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2B, 0x80, 0x42, 0xE0, 0x81]
    #expect(VP8FrameHeader(parsing: frame.span.bytes) == nil)
    let delta = [0x11] + frame.dropFirst()
    #expect(VP8FrameHeader(parsing: delta.span.bytes)?.isKeyFrame == false)
  }
}
