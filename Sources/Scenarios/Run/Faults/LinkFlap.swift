internal import CallCore
internal import VirtualPeer

/// A link that goes down and up, down at first, for a number of cycles or without end.
final class LinkFlap {
  private(set) var isDown = true
  private let down: Interval
  private let up: Interval
  private let cycles: Int?
  /// The number of times it has gone down.
  private var downCount = 1
  private var isOver = false
  private let clock: PeerClock
  private let changed: () -> Void
  private let ended: () -> Void
  private var timer: PeerTimer?

  init(
    down: Interval, up: Interval, cycles: Int?, clock: PeerClock, changed: @escaping () -> Void,
    ended: @escaping () -> Void
  ) {
    self.down = down
    self.up = up
    self.cycles = cycles
    self.clock = clock
    self.changed = changed
    self.ended = ended
    wait()
  }

  func stop() {
    isOver = true
    timer?.cancel()
    timer = nil
  }

  private func wait() {
    timer = clock.schedule(after: isDown ? down : up) { [weak self] in self?.turn() }
  }

  /// Whether it has cycles left.
  var isUnfinished: Bool { !isOver && cycles != nil && rest != nil }

  /// The reason why it is not a complete flap so far, or was not when it was ended; nil when it is complete.
  var rest: String? {
    guard let cycles else { return downCount > 1 ? nil : "it went down once only, and link.down does that" }
    let done = isDown ? downCount - 1 : downCount
    return done < cycles ? "it went down and up \(done) of \(cycles) times" : nil
  }

  private func turn() {
    if !isDown {
      if downCount == cycles { return ended() }
      downCount += 1
    }
    isDown.toggle()
    changed()
    wait()
  }
}
