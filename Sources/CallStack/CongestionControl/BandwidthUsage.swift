/// The state of a path's queue, from the trend of its delay.
package enum BandwidthUsage: Hashable, Sendable, CaseIterable, BitwiseCopyable {
  case normal
  /// The delay grows: more is sent than the path carries.
  case overusing
  /// The delay shrinks: a queue drains.
  case underusing
}
