import CDAV1D
package import CallCore
import Pictures

/// An AV1 decoder (dav1d) with one thread, for temporal units of 4:2:0 pictures with 8 bits.
///
/// Damaged payloads throw or give damaged pictures. The decoder stays usable; the owner asks for a key frame.
package final class AV1Decoder {
  /// The limit of the pixels of a picture, against payloads that name a huge one.
  package let maximumPixels: Int
  private var context: OpaquePointer?
  private var hasKeyFrame = false
  /// Whether a payload failed since the last key frame.
  private var isDamaged = false
  private var lastSize: PictureSize?

  /// Makes a decoder. The default limit is 4096 x 2304, that of level 5.1 of most codecs.
  package init(maximumPixels: Int = 4_096 * 2_304) throws(VideoCodecError) {
    self.maximumPixels = maximumPixels
    let code = callsim_dav1d_open(&context, UInt32(clamping: maximumPixels))
    guard code == 0, context != nil else { throw .dav1d(code: code) }
  }

  deinit { dav1d_close(&context) }

  /// Decodes the payload of one frame.
  ///
  /// - Returns: the picture, or nil if the frame is not to be shown.
  package func decode(
    _ payload: RawSpan, at timestamp: Instant = .zero
  ) throws(VideoCodecError) -> DecodedVideoFrame? {
    guard !payload.isEmpty else { throw .malformed("no unit") }
    let beginsSequence = try inspect(payload)
    guard hasKeyFrame || beginsSequence else { throw .keyFrameRequired }
    // dav1d may keep parts of a damaged sequence, and then refuse the key frame of the next one.
    if beginsSequence, isDamaged { dav1d_flush(context) }
    var image = Dav1dPicture()
    let code = payload.withUnsafeBytes { bytes in
      callsim_dav1d_decode(
        context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &image)
    }
    defer { dav1d_picture_unref(&image) }
    guard code == 0 else {
      isDamaged = true
      throw .dav1d(code: code)
    }
    guard image.data.0 != nil else {
      guard hasKeyFrame else { throw .malformed("no picture") }
      return nil
    }
    let isKeyFrame = callsim_dav1d_is_key(&image) != 0
    if isKeyFrame { (hasKeyFrame, isDamaged) = (true, false) }
    let picture = try copy(image, timestamp)
    defer { lastSize = picture.size }
    return DecodedVideoFrame(
      picture: picture, size: picture.size, contentID: nil, isKeyFrame: isKeyFrame, isCorrupted: false,
      hasNewSize: lastSize != picture.size, quantizer: Int(callsim_dav1d_quantizer(&image)))
  }

  /// Returns whether the payload has a sequence header, as a key frame has, and throws if it is malformed or allows huge
  /// pictures.
  private func inspect(_ payload: RawSpan) throws(VideoCodecError) -> Bool {
    var (width, height): (Int32, Int32) = (0, 0)
    let found = payload.withUnsafeBytes { bytes in
      callsim_dav1d_size(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &width, &height)
    }
    guard found >= 0 else { throw .malformed("no unit of AV1") }
    guard found > 0 else { return false }
    guard Int(width) * Int(height) <= maximumPixels else {
      throw .tooManyPixels(width: Int(width), height: Int(height))
    }
    return true
  }

  private func copy(_ image: Dav1dPicture, _ timestamp: Instant) throws(VideoCodecError) -> VideoFrame {
    guard image.p.bpc == 8, image.p.layout == DAV1D_PIXEL_LAYOUT_I420,
      let size = PictureSize(Int(image.p.w), Int(image.p.h)), let y = image.data.0, let u = image.data.1,
      let v = image.data.2
    else { throw .malformed("the picture is not I420 with 8 bits") }
    let planes = (
      y.assumingMemoryBound(to: UInt8.self), u.assumingMemoryBound(to: UInt8.self),
      v.assumingMemoryBound(to: UInt8.self)
    )
    let (luma, chroma) = (image.stride.0, image.stride.1)
    guard
      let frame = VideoFrame(
        size: size, y: (planes.0, luma), u: (planes.1, chroma), v: (planes.2, chroma), at: timestamp)
    else { throw .malformed("the picture has no samples") }
    return frame
  }
}
