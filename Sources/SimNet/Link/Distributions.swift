package import CallCore

/// Distributions without libm: its results differ between platforms, and a run's must not.
extension RandomStream {
  /// Returns an exponentially distributed span by von Neumann's comparison method: exact, and free of logarithms.
  package mutating func exponential(mean: Interval) -> Interval {
    var whole: UInt64 = 0
    while true {
      let first = next()
      var least = first
      var runLength = 1
      while true {
        let draw = next()
        guard draw < least else { break }
        least = draw
        runLength += 1
      }
      if runLength % 2 == 1 {
        let unit = UInt64(clamping: mean.nanoseconds)
        let fraction = first.multipliedFullWidth(by: unit).high
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        return Interval(nanoseconds: overflow ? .max : Int64(clamping: product &+ fraction))
      }
      whole += 1
    }
  }

  /// Returns a normally distributed span with mean zero, from ``NormalQuantiles``; within 4.2 standard deviations.
  mutating func normal(standardDeviation: Interval) -> Interval {
    let draw = next()
    let magnitude = Int64(NormalQuantiles.halfNormal(draw >> 1))
    let unit = standardDeviation.nanoseconds.magnitude
    let scaled = UInt64(magnitude).multipliedFullWidth(by: unit)
    let span = Int64(clamping: scaled.high << 32 | scaled.low >> 32)
    return Interval(nanoseconds: draw & 1 == 0 ? span : -span)
  }

  /// Returns a span distributed evenly over ± `spread`.
  mutating func uniform(within spread: Interval) -> Interval {
    let bound = Int64(clamping: spread.nanoseconds.magnitude)
    return bound == 0 ? .zero : Interval(nanoseconds: uniform(in: -bound...bound))
  }
}
