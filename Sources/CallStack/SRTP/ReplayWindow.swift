/// The packets of one source that were handled: the highest index, and which of the latest ``size`` indices came
/// (RFC 3711 section 3.3.2).
struct ReplayWindow {
  /// The size in packets.
  static let size = 1_024

  enum Verdict { case new, repeated, tooOld }

  /// The highest index; nil before the first packet.
  private(set) var highest: UInt64?
  /// One bit for each of the latest indices, at the index modulo the size.
  private var seen = InlineArray<16, UInt64>(repeating: 0)

  func verdict(on index: UInt64) -> Verdict {
    guard let highest, index <= highest else { return .new }
    guard highest - index < UInt64(Self.size) else { return .tooOld }
    return seen[Self.word(of: index)] & Self.bit(of: index) == 0 ? .new : .repeated
  }

  /// Notes a packet that is not too old.
  mutating func note(_ index: UInt64) {
    if let highest, index > highest {
      let skipped = index - highest - 1
      if skipped >= UInt64(Self.size) {
        seen = InlineArray(repeating: 0)
      } else {
        for missing in index - skipped..<index { seen[Self.word(of: missing)] &= ~Self.bit(of: missing) }
      }
    }
    seen[Self.word(of: index)] |= Self.bit(of: index)
    highest = max(highest ?? index, index)
  }

  private static func word(of index: UInt64) -> Int { Int(truncatingIfNeeded: index % UInt64(size) / 64) }
  private static func bit(of index: UInt64) -> UInt64 { 1 << (index % 64) }
}
