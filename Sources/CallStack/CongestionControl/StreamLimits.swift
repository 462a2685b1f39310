package import CallCore

/// The use of the bandwidth by all streams (``RateAllocator/limits``).
package struct StreamLimits: Hashable, Sendable {
  /// The sum of the enforced minima, below which the estimate does not fall.
  package var minimum = DataRate.bitsPerSecond(0)
  /// The sum of the maxima, which limits probes to twice as much; zero is unknown.
  package var maximum = DataRate.bitsPerSecond(0)
  /// The sum of the rates with which every stream is sent, also one that is paused.
  package var resumption = DataRate.bitsPerSecond(0)
  /// The sum of the rates to which padding fills the streams.
  package var padding = DataRate.bitsPerSecond(0)

  package init() {}
}
