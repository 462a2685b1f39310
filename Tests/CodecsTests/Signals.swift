import Codecs

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A tone.
func sine(_ frequency: Double, rate: Int = 48_000, amplitude: Double = 8_000, count: Int) -> [Int16] {
  (0..<count).map { Int16((amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate))).rounded()) }
}

/// The signal-to-noise ratio in decibels of `heard`, which is `sent` later by one of `delays`, at the best of these. The
/// first quarter, in which filters and predictors settle, does not count.
func bestSNR(of heard: [Int16], beside sent: [Int16], delays: ClosedRange<Int>) -> Double {
  delays.map { delay -> Double in
    var (signal, noise) = (0.0, 1e-9)
    for index in max(delay, heard.count / 4)..<heard.count where index - delay < sent.count {
      let wanted = Double(sent[index - delay])
      signal += wanted * wanted
      noise += (Double(heard[index]) - wanted) * (Double(heard[index]) - wanted)
    }
    return 10 * log10(signal / noise)
  }.max() ?? -.infinity
}
