import CallCore

/// A telephone event's payload (RFC 4733 section 2.3).
package struct TelephoneEventPayload: Hashable, Sendable, BitwiseCopyable {
  /// The event: 0 to 15 are the DTMF digits (section 3.2).
  package var event: UInt8
  /// Whether the event has ended.
  package var isEnd: Bool
  /// The power of a tone in −dBm0, 0 to 63.
  package var volume: UInt8
  /// The duration so far, in ticks of the media clock.
  package var duration: UInt16

  package init(event: UInt8, isEnd: Bool, volume: UInt8, duration: UInt16) {
    self.event = event
    self.isEnd = isEnd
    self.volume = min(volume, 63)
    self.duration = duration
  }

  /// The size in bytes.
  package static let size = 4

  /// Reads the first event of a payload, or returns nil when it ends before.
  package init?(parsing payload: RawSpan) {
    guard let word = payload.bigEndian(UInt32.self, at: 0) else { return nil }
    event = UInt8(word >> 24)
    isEnd = word & 0x80_0000 != 0
    volume = UInt8(word >> 16 & 0x3F)
    duration = UInt16(truncatingIfNeeded: word)
  }

  /// Appends the payload.
  ///
  /// - Precondition: `output` has room for ``size`` bytes.
  package func write(into output: inout OutputSpan<UInt8>) {
    output.append(event)
    output.append((isEnd ? 0x80 : 0) | volume & 0x3F)
    output.append(bigEndian: duration)
  }

  /// The characters of the DTMF digits, in the order of their events.
  private static let digits: [Character] = Array("0123456789*#ABCD")

  /// Returns the event of a DTMF digit; nil for another character.
  package static func event(of digit: Character) -> UInt8? {
    digits.firstIndex { $0 == digit || $0.lowercased() == String(digit) }.map { UInt8($0) }
  }

  /// Returns the DTMF digit of an event; nil for another event.
  package static func digit(of event: UInt8) -> Character? {
    event < digits.count ? digits[Int(event)] : nil
  }
}
