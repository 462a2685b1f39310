package import Pictures

/// How like the picture on a screen is to the one that the camera took, by their luma planes.
package enum PictureFidelity {
  /// Equal pictures have no noise; beyond this, differences do not count.
  private static let limit = 100.0

  /// Returns the peak signal-to-noise ratio in dB, at most 100.
  ///
  /// A picture that was sent smaller is brought to the size of the camera first, as a screen does.
  package static func peakSignalToNoise(_ shown: VideoFrame, _ original: VideoFrame) -> Double? {
    (try? PSNR.luma(shown.scaled(like: original), original)).map { min(limit, $0) }
  }

  /// Returns the structural similarity `ssim_gauss11`, at most 1.
  package static func structuralSimilarity(_ shown: VideoFrame, _ original: VideoFrame) -> Double? {
    try? SSIM.gauss11(shown.scaled(like: original), original)
  }
}

extension VideoFrame {
  fileprivate func scaled(like other: VideoFrame) -> VideoFrame { size == other.size ? self : scaled(to: other.size) }
}
