package import CallCore

/// What a peer shows of one source of pictures.
package struct ShownPicture {
  /// The SSRC of the stream that brings it.
  package let source: UInt32
  /// When the camera took the picture that is shown now.
  package let captured: Instant
  /// The picture that was shown at the moment of the sample; nil before the first.
  package let sampled: Sample?

  /// A picture of which a sample tells: its age and delay, and how like it is to the one that the camera took.
  package struct Sample {
    /// When the camera took it.
    package let captured: Instant
    /// The time from the camera to the screen.
    package let delay: Interval
    /// Whether it came on the screen since the moment of the sample before.
    package let isNew: Bool
    /// Returns the time by which it came after the sound of its moment, negative when before; nil while its peer is not heard to
    /// speak.
    package let lipSync: () -> Interval?
    /// Returns the peak signal-to-noise ratio of the luma in dB, at most 100; nil without real pictures.
    package let peakSignalToNoise: () -> Double?
    /// Returns the structural similarity `ssim_gauss11`, at most 1; nil without real pictures.
    package let structuralSimilarity: () -> Double?

    package init(
      captured: Instant, delay: Interval, isNew: Bool, lipSync: @escaping () -> Interval? = { nil },
      peakSignalToNoise: @escaping () -> Double?, structuralSimilarity: @escaping () -> Double?
    ) {
      self.captured = captured
      self.delay = delay
      self.isNew = isNew
      self.lipSync = lipSync
      self.peakSignalToNoise = peakSignalToNoise
      self.structuralSimilarity = structuralSimilarity
    }
  }

  package init(source: UInt32, captured: Instant, sampled: Sample?) {
    self.source = source
    self.captured = captured
    self.sampled = sampled
  }
}
