internal import Bitstreams
import CVPX
package import CallCore
import Pictures

/// A VP8 or VP9 decoder (libvpx) with one thread.
///
/// Damaged payloads throw or give damaged pictures. The decoder stays usable; the owner asks for a key frame.
package final class VPXDecoder {
  package let codec: VideoCodec
  /// The limit of the pixels of a picture, against payloads that name a huge one.
  package let maximumPixels: Int
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var hasKeyFrame = false
  private var lastSize: PictureSize?

  /// Makes a decoder of VP8 or VP9. The default limit is 4096 x 2304, that of level 5.1 of most codecs.
  package init(_ codec: VideoCodec, maximumPixels: Int = 4_096 * 2_304) throws(VideoCodecError) {
    guard [.vp8, .vp9].contains(codec) else { throw .unsupportedSetting("codec") }
    self.codec = codec
    self.maximumPixels = maximumPixels
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    let code = callsim_vpx_decoder_init(context, codec == .vp8 ? vpx_codec_vp8_dx() : vpx_codec_vp9_dx())
    guard code == VPX_CODEC_OK else { throw VideoCodecError(code, nil) }
  }

  deinit {
    _ = vpx_codec_destroy(context)
    context.deallocate()
  }

  /// Decodes the payload of one frame.
  ///
  /// - Returns: the picture, or nil if the frame is not to be shown.
  package func decode(
    _ payload: RawSpan, at timestamp: Instant = .zero
  ) throws(VideoCodecError) -> DecodedVideoFrame? {
    let isKeyFrame = try inspect(payload)
    guard hasKeyFrame || isKeyFrame else { throw .keyFrameRequired }
    let code = payload.withUnsafeBytes { bytes in
      vpx_codec_decode(
        context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(clamping: bytes.count), nil, 0)
    }
    guard code == VPX_CODEC_OK else {
      // Pictures that wait must not be taken for those of the next frame.
      _ = lastImage()
      throw VideoCodecError(code, vpx_codec_error_detail(context))
    }
    if isKeyFrame { hasKeyFrame = true }
    guard let image = lastImage() else { return nil }
    let picture = try copy(image.pointee, timestamp)
    defer { lastSize = picture.size }
    return DecodedVideoFrame(
      picture: picture, size: picture.size, contentID: nil, isKeyFrame: isKeyFrame,
      isCorrupted: control(Int32(VP8D_GET_FRAME_CORRUPTED.rawValue)).map { $0 != 0 } ?? false,
      hasNewSize: lastSize != picture.size, quantizer: control(Int32(VPXD_GET_LAST_QUANTIZER.rawValue)))
  }

  /// Returns whether the payload is a key frame, and throws if its header is malformed or names a huge picture.
  private func inspect(_ payload: RawSpan) throws(VideoCodecError) -> Bool {
    switch codec {
    case .vp9:
      var isKeyFrame = false
      for range in VP9Superframe.frames(of: payload) {
        guard let header = VP9FrameHeader(parsing: payload.extracting(range)) else {
          throw .malformed("no header of VP9 profile 0")
        }
        try checkSize(header.width, header.height)
        isKeyFrame = isKeyFrame || header.isKeyFrame
      }
      return isKeyFrame
    default:
      guard let header = VP8FrameHeader(parsing: payload), header.width != 0, header.height != 0 else {
        throw .malformed("no header of VP8")
      }
      try checkSize(Int(header.width ?? 0), Int(header.height ?? 0))
      return header.isKeyFrame
    }
  }

  private func checkSize(_ width: Int, _ height: Int) throws(VideoCodecError) {
    guard width * height <= maximumPixels else { throw .tooManyPixels(width: width, height: height) }
  }

  private func lastImage() -> UnsafeMutablePointer<vpx_image_t>? {
    var iterator: vpx_codec_iter_t?
    var last: UnsafeMutablePointer<vpx_image_t>?
    while let image = vpx_codec_get_frame(context, &iterator) { last = image }
    return last
  }

  private func control(_ request: Int32) -> Int? {
    var value: Int32 = 0
    return callsim_vpx_get(context, request, &value) == VPX_CODEC_OK ? Int(value) : nil
  }

  private func copy(_ image: vpx_image_t, _ timestamp: Instant) throws(VideoCodecError) -> VideoFrame {
    guard image.fmt == VPX_IMG_FMT_I420, let size = PictureSize(Int(image.d_w), Int(image.d_h)),
      let y = image.planes.0, let u = image.planes.1, let v = image.planes.2
    else { throw .malformed("the picture is not I420 with 8 bits") }
    let strides = (Int(image.stride.0), Int(image.stride.1), Int(image.stride.2))
    guard
      let frame = VideoFrame(size: size, y: (y, strides.0), u: (u, strides.1), v: (v, strides.2), at: timestamp)
    else { throw .malformed("the picture has no samples") }
    return frame
  }
}
