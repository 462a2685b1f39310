/// A video codec that is built in.
package enum VideoCodec: String, CaseIterable, Hashable, Sendable {
  /// VP8 (RFC 6386) by libvpx.
  case vp8
  /// VP9 profile 0 by libvpx.
  case vp9
  /// H.264 constrained baseline by OpenH264.
  case h264
  /// AV1 main profile by libaom and dav1d.
  case av1
  /// Frames of modelled sizes without pictures; see ``SyntheticVideo``.
  case synthetic
}
