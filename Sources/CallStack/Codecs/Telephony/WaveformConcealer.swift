/// Conceals lost samples of codecs without a concealment of their own by repeating the last pitch period, after ITU-T
/// G.711 Appendix I.
///
/// It differs from the appendix in two points: it repeats one period however long the loss is, and the sound before a
/// loss is not delayed for an overlap with it. As there, the repetition fades by a fifth in each 10 ms after the first,
/// so that it is silent after 60 ms, and the first good samples overlap with it.
struct WaveformConcealer: Sendable {
  /// The last samples, the oldest first: a window of 20 ms, and the longest period before it.
  private var history: [Int16]
  /// The last period before the loss, its end blended into its beginning.
  private var period: [Int16] = []
  /// The number of samples concealed since the last good one.
  private(set) var concealed = 0
  private let samplesPerMillisecond: Int

  init(rate: Int) {
    samplesPerMillisecond = rate / 1_000
    history = Array(repeating: 0, count: samplesPerMillisecond * 35)
    period.reserveCapacity(samplesPerMillisecond * 15)
  }

  mutating func reset() {
    for index in history.indices { history[index] = 0 }
    concealed = 0
  }

  /// Takes decoded samples, and blends their beginning with a concealment before them.
  mutating func accept(_ samples: inout MutableSpan<Int16>) {
    if concealed > 0 {
      // 4 ms, and 4 ms more for each 10 ms of loss, up to 10 ms (Appendix I section I.2.7).
      let overlap = samplesPerMillisecond * min(10, 4 + 4 * (concealed / (10 * samplesPerMillisecond)))
      let count = min(samples.count, overlap)
      for index in 0..<count {
        let old = Int(repeated(concealed + index))
        samples[index] = Int16((old * (count - index) + Int(samples[index]) * index) / count)
      }
      concealed = 0
    }
    remember(samples.span)
  }

  /// Appends `count` samples in place of lost ones.
  mutating func conceal(_ count: Int, into output: inout OutputSpan<Int16>) {
    if concealed == 0 { findPeriod() }
    for _ in 0..<count {
      output.append(repeated(concealed))
      concealed += 1
    }
  }

  private func repeated(_ position: Int) -> Int16 {
    guard !period.isEmpty else { return 0 }
    let millisecond = 10 * samplesPerMillisecond
    // Full scale for 10 ms, then a fifth less in each 10 ms.
    let faded = max(0, 6 * millisecond - max(position, millisecond))
    return Int16(Int(period[position % period.count]) * faded / (5 * millisecond))
  }

  private mutating func remember(_ samples: Span<Int16>) {
    let kept = max(0, history.count - samples.count)
    for index in 0..<kept { history[index] = history[index + history.count - kept] }
    let first = samples.count - (history.count - kept)
    for index in kept..<history.count { history[index] = samples[first + index - kept] }
  }

  /// Finds the period of 5 to 15 ms after which the last 20 ms resemble themselves most, and copies it.
  private mutating func findPeriod() {
    let window = 20 * samplesPerMillisecond
    let start = history.count - window
    var best = (lag: 15 * samplesPerMillisecond, product: 0.0, energy: 1.0)
    for lag in 5 * samplesPerMillisecond...15 * samplesPerMillisecond {
      var (product, energy) = (0, 0)
      for index in start..<history.count {
        let (now, before) = (Int(history[index]), Int(history[index - lag]))
        product += now * before
        energy += before * before
      }
      guard product > 0, energy > 0 else { continue }
      // The comparison of product²/energy, without division.
      let (this, power) = (Double(product), Double(energy))
      if this * this * best.energy > best.product * best.product * power { best = (lag, this, power) }
    }
    period.removeAll(keepingCapacity: true)
    period.append(contentsOf: history[(history.count - best.lag)...])
    let quarter = best.lag / 4
    for index in 0..<quarter {
      let place = best.lag - quarter + index
      let before = Int(history[history.count - best.lag - quarter + index])
      period[place] = Int16((Int(period[place]) * (quarter - index) + before * index) / quarter)
    }
  }
}
