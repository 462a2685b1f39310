import CallCore

/// Plays the tones of telephone events (RFC 4733): the two frequencies of a DTMF digit, and silence for other events.
package final class ToneDecoder {
  private let scale: Int
  private let producesSamples: Bool
  /// One oscillator: the last two values of a sine of unit amplitude, and its recurrence.
  private struct Oscillator {
    var factor = 0.0
    var last = 0.0
    var previous = 0.0

    mutating func next() -> Double {
      let value = factor * last - previous
      previous = last
      last = value
      return value
    }
  }
  private var event: UInt8?
  private var isOn = false
  private var amplitude = 0.0
  private var row = Oscillator()
  private var column = Oscillator()

  /// - Parameter producesSamples: false for modelled media, of which only the level is heard.
  package init(clockRate: UInt32, producesSamples: Bool) {
    scale = max(1, audioSampleRate / Int(max(1, clockRate)))
    self.producesSamples = producesSamples
  }

  package var hasSamples: Bool { producesSamples }

  package func reset() {
    event = nil
    isOn = false
  }

  /// An event takes effect at its timestamp, and its end a duration later.
  func inspect(_ payload: RawSpan) -> AudioPayload? {
    guard let word = payload.bigEndian(UInt32.self, at: 0) else { return nil }
    let isEnd = word & 0x80_0000 != 0
    return AudioPayload(
      samplesPerChannel: 0, redundantSamples: 0, isDTX: true, lead: isEnd ? Int(word & 0xFFFF) * scale : 0)
  }

  /// Begins, continues or ends a tone.
  func take(_ payload: RawSpan) {
    guard let word = payload.bigEndian(UInt32.self, at: 0) else { return }
    let event = UInt8(word >> 24)
    isOn = word & 0x80_0000 == 0
    guard isOn, self.event != event else {
      if !isOn { self.event = nil }
      return
    }
    self.event = event
    // The level of the sum; each of both tones has half of its power.
    amplitude = AudioLevel(UInt8(word >> 16 & 0x3F)).linear
    guard event < 16 else { return }
    row = Self.oscillator(Self.rows[Self.places[Int(event)] / 4])
    column = Self.oscillator(Self.columns[Self.places[Int(event)] % 4])
  }

  /// Appends the tone, or silence after its end.
  func play(_ count: Int, into output: inout OutputSpan<Int16>) -> DecodedAudio? {
    let isAudible = isOn && event.map { $0 < 16 } ?? false
    guard producesSamples else {
      return DecodedAudio(
        samplesPerChannel: count, level: isAudible ? AudioLevel(linear: amplitude) : .silence)
    }
    guard output.freeCapacity >= count else { return nil }
    for _ in 0..<count {
      output.append(isAudible ? Int16(clamping: Int((row.next() + column.next()) * amplitude * 32_767 / 2)) : 0)
    }
    return DecodedAudio(samplesPerChannel: count, level: nil)
  }

  private static func oscillator(_ tone: (factor: Double, sine: Double)) -> Oscillator {
    Oscillator(factor: tone.factor, last: 0, previous: -tone.sine)
  }

  /// Twice the cosine and the sine of one step at 48 kHz, for 697, 770, 852 and 941 Hz (ITU-T Q.23).
  private static let rows = [
    (factor: 1.9916815667850887, sine: 0.09111055993749385), (1.9898494164993203, 0.10062218897603353),
    (1.987574718046707, 0.11129548528753667), (1.9848466962400604, 0.12286536577176398),
  ]
  /// For 1209, 1336, 1477 and 1633 Hz.
  private static let columns = [
    (factor: 1.9750067204254866, sine: 0.15759794912542807), (1.9694941567334254, 0.173991929836482),
    (1.9627363830518667, 0.19213659896313104), (1.9544807270597335, 0.21213503220357993),
  ]
  /// The place of each event on the keypad of four columns.
  private static let places = [13, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 14, 3, 7, 11, 15]
}
