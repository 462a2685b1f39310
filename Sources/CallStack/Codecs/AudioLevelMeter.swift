/// Measures the level of a stream for `audioLevel` and `totalAudioEnergy` of W3C's statistics.
///
/// It follows libwebrtc's rule, as Chromium and Firefox do, so that numbers can be compared: the level is the peak of
/// the last 110 ms, or a quarter of the previous level if that is higher, and the energy is that of the level.
/// (webrtc-stats specifies the root mean square, which is about a third of the peak for speech.)
package struct AudioLevelMeter: Hashable, Sendable {
  /// The last level, where 1 is full scale.
  package private(set) var level = 0.0
  /// The sum of the squared level times the duration in seconds.
  package private(set) var totalEnergy = 0.0
  /// The duration in seconds.
  package private(set) var totalDuration = 0.0
  private var peak = 0.0
  private var samples = 0

  private static let period = 11 * audioSampleRate / 100

  package init() {}

  /// Adds `samples` per channel.
  ///
  /// - Parameter peak: their largest magnitude, where 1 is full scale.
  package mutating func add(peak: Double, samples: Int) {
    self.peak = max(self.peak, min(peak, 1))
    self.samples += samples
    if self.samples >= Self.period {
      level = self.peak
      // Rounding down to whole sample steps lets the level reach silence.
      self.peak = (self.peak * 32_767 / 4).rounded(.down) / 32_767
      self.samples = 0
    }
    let duration = Double(samples) / Double(audioSampleRate)
    totalEnergy += level * level * duration
    totalDuration += duration
  }
}

/// Returns the largest magnitude among samples as a fraction of full scale.
package func peakMagnitude(_ samples: Span<Int16>) -> Double {
  var largest: UInt16 = 0
  for index in samples.indices { largest = max(largest, samples[unchecked: index].magnitude) }
  return min(1, Double(largest) / 32_767)
}
