internal import CallCore

/// Random draws that belong to virtual time: the packets that enter a wire in the same slot take the draws of that slot
/// in order, and packets of other slots change nothing.
///
/// So two senders with different packets meet the same loss and delay wherever they send at the same time, and one
/// packet more does not change the fate of all later ones.
struct TimedStream: ~Copyable {
  /// Shorter than the time between two audio packets, so that each has draws of its own time.
  static let slotLength = Interval.milliseconds(1)

  private let seed: UInt64
  private var slot: Int64?
  private var draws: RandomStream

  /// Makes the draws of a named stream.
  init(_ name: String, of random: RandomSource) {
    draws = random.stream(name)
    seed = draws.next()
  }

  /// Draws from the slot of a time. Time must not go backwards.
  mutating func draw<Result>(at now: Instant, _ body: (inout RandomStream) -> Result) -> Result {
    let current = (now - Instant.zero).nanoseconds / Self.slotLength.nanoseconds
    if slot != current {
      slot = current
      draws = RandomStream(seed: seed &+ UInt64(bitPattern: current))
    }
    return body(&draws)
  }

  /// Draws true with the given probability; 0 never, 1 always.
  mutating func chance(_ probability: Double, at now: Instant) -> Bool {
    draw(at: now) { $0.chance(probability) }
  }
}
