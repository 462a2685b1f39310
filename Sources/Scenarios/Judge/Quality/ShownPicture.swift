package import CallCore

/// The picture that a peer shows: its delay, and how like it is to the one that the camera took.
package struct ShownPicture {
  /// The time from the camera to the screen.
  package let delay: Interval
  /// Returns the peak signal-to-noise ratio of the luma in dB, at most 100; nil without real pictures.
  package let peakSignalToNoise: () -> Double?
  /// Returns the structural similarity `ssim_gauss11`, at most 1; nil without real pictures.
  package let structuralSimilarity: () -> Double?

  package init(
    delay: Interval, peakSignalToNoise: @escaping () -> Double?, structuralSimilarity: @escaping () -> Double?
  ) {
    self.delay = delay
    self.peakSignalToNoise = peakSignalToNoise
    self.structuralSimilarity = structuralSimilarity
  }
}
