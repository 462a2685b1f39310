internal import Bitstreams
import COpenH264
package import CallCore
import Pictures

/// An H.264 decoder (OpenH264) for access units in the byte stream format (ITU-T H.264 annex B), without concealment.
///
/// OpenH264 itself refuses pictures of more than level 5.2.
package final class H264Decoder {
  private var decoder: UnsafeMutablePointer<ISVCDecoder?>?
  private var hasKeyFrame = false
  private var lastSize: PictureSize?

  package init() throws(VideoCodecError) {
    var created: UnsafeMutablePointer<ISVCDecoder?>?
    guard WelsCreateDecoder(&created) == 0, let created else { throw .openH264("no memory for a decoder") }
    guard callsim_h264_decoder_open(created) == 0 else {
      WelsDestroyDecoder(created)
      throw .openH264("the decoder could not be opened")
    }
    decoder = created
  }

  deinit {
    if let decoder { callsim_h264_decoder_close(decoder) }
  }

  /// Decodes the payload of one frame.
  ///
  /// - Returns: the picture, or nil if the frame has none.
  package func decode(
    _ payload: RawSpan, at timestamp: Instant = .zero
  ) throws(VideoCodecError) -> DecodedVideoFrame? {
    let units = H264ByteStream.units(of: payload)
    guard !units.isEmpty else { throw .malformed("no NAL unit") }
    let isKeyFrame = units.contains { $0.kind == .instantaneousRefresh }
    guard hasKeyFrame || isKeyFrame else { throw .keyFrameRequired }
    var planes: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
    planes = (nil, nil, nil)
    var info = SBufferInfo()
    let state = payload.withUnsafeBytes { bytes in
      withUnsafeMutableBytes(of: &planes) { planes in
        callsim_h264_decoder_decode(
          decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count),
          planes.baseAddress?.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self), &info)
      }
    }
    guard state == 0 else { throw .openH264("decoding state \(state)") }
    if isKeyFrame { hasKeyFrame = true }
    guard info.iBufferStatus == 1, let y = planes.0, let u = planes.1, let v = planes.2 else { return nil }
    let buffer = info.UsrData.sSystemBuffer
    guard let size = PictureSize(Int(buffer.iWidth), Int(buffer.iHeight)),
      let picture = VideoFrame(
        size: size, y: (y, Int(buffer.iStride.0)), u: (u, Int(buffer.iStride.1)), v: (v, Int(buffer.iStride.1)),
        at: timestamp)
    else { throw .malformed("the picture has no size") }
    defer { lastSize = size }
    return DecodedVideoFrame(
      picture: picture, size: size, contentID: nil, isKeyFrame: isKeyFrame, isCorrupted: false,
      hasNewSize: lastSize != size, quantizer: nil)
  }
}
