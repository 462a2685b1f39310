/// How loud a stream is, as `audioLevel` and `totalAudioEnergy` of W3C's statistics tell it.
///
/// Chromium and Firefox measure by libwebrtc's rule, and so does this, so that numbers can be compared: a level is the
/// peak of the last 110 ms, or a quarter of the level before when that is more, and the energy is that of the level.
/// (webrtc-stats wants the root mean square, which of speech is about a third of the peak.)
package struct AudioLevelMeter: Hashable, Sendable {
  /// The level last found, 1 being full scale.
  package private(set) var level = 0.0
  /// The square of the level times its seconds, summed.
  package private(set) var totalEnergy = 0.0
  /// In seconds.
  package private(set) var totalDuration = 0.0
  private var peak = 0.0
  private var samples = 0

  private static let period = 11 * audioSampleRate / 100

  package init() {}

  /// Takes a stretch of `samples` a channel.
  ///
  /// - Parameter peak: the largest magnitude in it, 1 being full scale.
  package mutating func add(peak: Double, samples: Int) {
    self.peak = max(self.peak, min(peak, 1))
    self.samples += samples
    if self.samples >= Self.period {
      level = self.peak
      // In whole steps of a sample, so that it reaches silence.
      self.peak = (self.peak * 32_767 / 4).rounded(.down) / 32_767
      self.samples = 0
    }
    let duration = Double(samples) / Double(audioSampleRate)
    totalEnergy += level * level * duration
    totalDuration += duration
  }
}

/// The largest magnitude among samples as a fraction of full scale.
package func peakMagnitude(_ samples: Span<Int16>) -> Double {
  var largest: UInt16 = 0
  for index in samples.indices { largest = max(largest, samples[unchecked: index].magnitude) }
  return min(1, Double(largest) / 32_767)
}
