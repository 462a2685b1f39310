internal import CallCore

/// Whether a forwarded video is paused: once there has been no room for it for a while, until there is again.
///
/// The figures are the model's own. A pause that follows soon after the last one is longer, so that a way at the border
/// does not show a picture every few seconds.
struct ForwardingPause {
  private static let patience = Interval.seconds(2)
  /// The shortest pause, doubled with every one that begins soon after the last.
  private static let length = (first: Interval.seconds(2), longest: Interval.seconds(32))
  private static let trial = Interval.seconds(10)

  private(set) var isOn = false
  private var shortSince: Instant?
  private var until: Instant?
  private var length = Self.length.first

  mutating func update(isShort: Bool, at now: Instant) {
    guard isShort else {
      shortSince = nil
      if isOn, until.map({ now >= $0 }) ?? true {
        isOn = false
        until = now
      }
      return
    }
    let since = shortSince ?? now
    shortSince = since
    guard !isOn, now - since >= Self.patience else { return }
    let isRelapse = until.map { since - $0 < Self.trial } ?? false
    length = isRelapse ? min(length * 2, Self.length.longest) : Self.length.first
    isOn = true
    until = now + length
  }
}
