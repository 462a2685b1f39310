package import CallCore

/// The moments of which samples of pictures tell: each within the period before its sample, and never at the same part of it in
/// a row. In step with a camera, or with its temporal layers, samples would find pictures of one age, or of one layer alone.
package struct PictureMoments {
  /// The part of a period at which the moments of a run begin, of 2^32.
  private let start: UInt64

  /// Makes those of a run: with other seeds they lie elsewhere, so that what single moments miss shows as noise.
  package init(_ random: RandomSource) {
    var stream = random.stream("picture moments")
    start = stream.next() & 0xFFFF_FFFF
  }

  /// Returns the moment of the sample at a time.
  package func moment(before time: Instant) -> Instant {
    let period = StatsSampler.period
    let number = UInt64(max(0, (time - Instant.zero).nanoseconds / period.nanoseconds))
    // Multiples of the golden ratio lie evenly within the period, however many there are.
    let part = (start &+ number &* 2_654_435_769) & 0xFFFF_FFFF
    return time - .nanoseconds((Int64(part) * period.nanoseconds) >> 32)
  }
}
