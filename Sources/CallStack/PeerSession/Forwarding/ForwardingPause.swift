internal import CallCore

/// Whether a forwarded video is paused: once there has been no room for it for a while, until there is again.
///
/// The figures are the model's own. A pause that follows soon after the last one is longer, so that a way at the border
/// does not show a picture every few seconds.
struct ForwardingPause {
  private static let patience = Interval.seconds(2)

  private(set) var isOn = false
  private var shortSince: Instant?
  /// When the last pause ended.
  private var resumed: Instant?
  private var hold = RetryHold()

  mutating func update(isShort: Bool, at now: Instant) {
    guard isShort else {
      shortSince = nil
      if isOn, !hold.isOn(at: now) { (isOn, resumed) = (false, now) }
      return
    }
    let since = shortSince ?? now
    shortSince = since
    guard !isOn, now - since >= Self.patience else { return }
    isOn = true
    hold.begin(at: now, failed: since, tried: resumed)
  }
}
