package import CallCore

/// The picture that a peer shows of one source: its age and delay, and how like it is to the one that the camera took.
package struct ShownPicture {
  /// The SSRC of the stream that brings it.
  package let source: UInt32
  /// When the camera took it.
  package let captured: Instant
  /// When the camera took the picture that was shown at ``StatsSampler/momentOfPictureAge(before:)``; nil before the first.
  package let capturedEarlier: Instant?
  /// The time from the camera to the screen.
  package let delay: Interval
  /// Whether it came on the screen since the sample before.
  package let isNew: Bool
  /// Returns the peak signal-to-noise ratio of the luma in dB, at most 100; nil without real pictures.
  package let peakSignalToNoise: () -> Double?
  /// Returns the structural similarity `ssim_gauss11`, at most 1; nil without real pictures.
  package let structuralSimilarity: () -> Double?

  package init(
    source: UInt32 = 0, captured: Instant, capturedEarlier: Instant? = nil, delay: Interval, isNew: Bool,
    peakSignalToNoise: @escaping () -> Double?,
    structuralSimilarity: @escaping () -> Double?
  ) {
    self.source = source
    self.captured = captured
    self.capturedEarlier = capturedEarlier
    self.delay = delay
    self.isNew = isNew
    self.peakSignalToNoise = peakSignalToNoise
    self.structuralSimilarity = structuralSimilarity
  }
}
