package import CallCore

/// A short run of packets at a rate above the estimate, which measures whether the path carries it.
package struct ProbeCluster: Hashable, Sendable, BitwiseCopyable {
  /// The number of the cluster, which its packets carry.
  package let id: Int32
  package let rate: DataRate
  /// The minimum duration at the rate: 15 ms in libwebrtc.
  package let duration: Interval
  /// The minimum number of packets.
  package let packetCount: Int
  /// The time between two groups of packets, each sent at once.
  package let slot: Interval
  package let requested: Instant

  /// The minimum number of bytes.
  package var byteCount: Int { rate.byteCount(in: duration) }
}
