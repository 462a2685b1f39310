/// What a server does with a video that it forwards to a subscriber whose way may not hold all of it.
public struct ForwardingPolicy: Hashable, Sendable {
  /// Whether the video is paused while the way does not hold even the smallest part of it; else that is sent all the same.
  public var pauses: Bool
  /// The share of the bandwidth in proportion to that of other videos, greater than 0. Of those that cannot all be sent, the
  /// one with the greater share goes on.
  public var priority: Double

  /// Makes a policy.
  public init(pauses: Bool = false, priority: Double = 1) {
    self.pauses = pauses
    self.priority = priority
  }
}
