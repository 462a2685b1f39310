/// The low-pass filter between a codec's sample rate and 48 kHz.
///
/// A Kaiser-windowed sinc of linear phase with 32 taps in each phase, in fixed point, so that its output is the same on
/// every machine. The passband (±0.8 dB) ends at 0.45 of the lower rate, the stopband (−58 dB) begins at 0.54, and each
/// direction delays by 2 ms at 8 kHz and 1 ms at 16 kHz.
struct ResamplingFilter: Sendable {
  static let tapsInPhase = 32
  /// The binary digits behind the point of a coefficient.
  static let fraction = 14

  /// The ratio of the rates.
  let ratio: Int
  /// The coefficients by phase: `tapsInPhase` of each, the one for the oldest sample first.
  let phases: [Int32]

  var count: Int { phases.count }

  static let narrow = ResamplingFilter(ratio: 6, half: narrowHalf)
  static let wide = ResamplingFilter(ratio: 3, half: wideHalf)

  static func between(_ rate: Int) -> ResamplingFilter { rate == 16_000 ? wide : narrow }

  private init(ratio: Int, half: [Int32]) {
    self.ratio = ratio
    let whole = half + half.reversed()
    phases = (0..<ratio).flatMap { phase in
      (0..<Self.tapsInPhase).map { whole[phase + (Self.tapsInPhase - 1 - $0) * ratio] }
    }
  }

  /// Cut off at 3850 Hz of 48 kHz.
  private static let narrowHalf: [Int32] = [
    -6, -4, 0, 6, 11, 15, 15, 11, 2, -9, -20, -28, -30, -23, -9, 11, 32, 47, 52, 43, 21, -10, -44, -71, -83, -73, -43,
    4, 56, 100, 124, 117, 77, 12, -65, -134, -176, -176, -129, -42, 67, 170, 239, 253, 202, 91, -57, -205, -315, -353,
    -302, -166, 28, 236, 402, 480, 439, 278, 27, -257, -502, -641, -625, -443, -124, 260, 617, 850, 883, 687, 287, -234,
    -754, -1135, -1261, -1068, -565, 156, 934, 1573, 1886, 1738, 1095, 39, -1228, -2418, -3202, -3281, -2446, -636,
    2039, 5301, 8743, 11894, 14299, 15600,
  ]

  /// Cut off at 7700 Hz of 48 kHz.
  private static let wideHalf: [Int32] = [
    -5, 3, 13, 14, -3, -25, -28, 1, 40, 49, 6, -59, -81, -21, 80, 124, 47, -101, -181, -89, 121, 254, 152, -133, -345,
    -244, 134, 455, 373, -115, -589, -554, 65, 755, 813, 34, -970, -1206, -223, 1283, 1874, 609, -1853, -3346, -1661,
    3619, 10385, 15104,
  ]
}

/// Raises the sample rate of a stream to 48 kHz.
struct Upsampler: Sendable {
  private let filter: ResamplingFilter
  /// The last samples twice, so that the latest `tapsInPhase` are always contiguous.
  private var past: [Int16]
  private var position = 0

  init(from rate: Int) {
    filter = .between(rate)
    past = Array(repeating: 0, count: 2 * ResamplingFilter.tapsInPhase)
  }

  mutating func reset() {
    for index in past.indices { past[index] = 0 }
  }

  /// Appends the samples at 48 kHz, `ratio` for each input sample.
  ///
  /// - Precondition: `output` has room for them.
  mutating func convert(_ input: Span<Int16>, into output: inout OutputSpan<Int16>) {
    let taps = ResamplingFilter.tapsInPhase
    for index in input.indices {
      past[position] = input[index]
      past[position + taps] = input[index]
      position = (position + 1) % taps
      for phase in 0..<filter.ratio {
        var sum = 1 << (ResamplingFilter.fraction - 1)
        for tap in 0..<taps { sum += Int(filter.phases[phase * taps + tap]) * Int(past[position + tap]) }
        output.append(Int16(clamping: sum >> ResamplingFilter.fraction))
      }
    }
  }
}

/// Lowers the sample rate of a 48 kHz stream.
struct Downsampler: Sendable {
  private let filter: ResamplingFilter
  /// The last samples twice, so that the latest ones are always contiguous.
  private var past: [Int16]
  private var position = 0
  private var phase = 0

  init(to rate: Int) {
    filter = .between(rate)
    past = Array(repeating: 0, count: 2 * filter.count)
  }

  mutating func reset() {
    for index in past.indices { past[index] = 0 }
    phase = 0
  }

  /// Appends the samples at the lower rate, one for `ratio` of the input.
  ///
  /// - Precondition: `output` has room for them.
  mutating func convert(_ input: Span<Int16>, into output: inout OutputSpan<Int16>) {
    let (count, taps, ratio) = (filter.count, ResamplingFilter.tapsInPhase, filter.ratio)
    for index in input.indices {
      past[position] = input[index]
      past[position + count] = input[index]
      position = (position + 1) % count
      phase += 1
      guard phase == ratio else { continue }
      phase = 0
      var sum = (1 << (ResamplingFilter.fraction - 1)) * ratio
      // The latest sample meets phase zero.
      for step in 0..<taps {
        for part in 0..<ratio {
          sum += Int(filter.phases[part * taps + step]) * Int(past[position + step * ratio + ratio - 1 - part])
        }
      }
      output.append(Int16(clamping: (sum / ratio) >> ResamplingFilter.fraction))
    }
  }
}
