internal import CallCore
internal import Codecs
internal import RTP

/// Sends telephone events in place of sound (RFC 4733 section 2.5): one update in each packet duration, and the last
/// one three times.
struct TelephoneEventSender {
  /// A packet of an event. Positions and durations count 48 kHz samples.
  struct Packet {
    var event: UInt8
    var start: Int64
    var duration: Int64
    var isEnd: Bool
    /// Whether it is the first of the event.
    var isOnset: Bool
    /// Whether the event fills the time of the packet, so that no sound is sent.
    var replacesSound: Bool

    func payload(samplesPerTick: Int64) -> TelephoneEventPayload {
      TelephoneEventPayload(
        event: event, isEnd: isEnd, volume: TelephoneEventSender.volume,
        duration: UInt16(clamping: duration / samplesPerTick))
    }
  }

  private struct Event {
    /// Nil for a pause.
    var event: UInt8?
    var duration: Int64
    var gap: Int64

    /// The character of a tone buffer; nil for an event that is no digit.
    var character: Character? { (event.map(DTMFTone.digit) ?? .pause).character }
  }

  /// The power of the tones in −dBm0, that of libwebrtc.
  private static let volume: UInt8 = 10
  /// The maximum number of waiting events.
  static let limit = 256
  /// The number of times that the last packet of an event is sent again.
  private static let repetitions = 2
  private var waiting = FIFO<Event>()
  private var current: (event: UInt8, start: Int64, end: Int64, hasBegun: Bool)?
  private var last: (packet: Packet, remaining: Int)?
  /// The position before which no other event begins.
  private var free: Int64 = 0

  /// Whether a tone or pause has begun, and the end of all tones was not told.
  private var isPlaying = false
  private var toneChanges = FIFO<String>()

  var isIdle: Bool { current == nil && waiting.isEmpty && last == nil && !isPlaying }

  /// Returns the next tone or pause that has begun; an empty text when all are over (W3C `tonechange`).
  mutating func nextToneChange() -> String? { toneChanges.popFirst() }

  /// - Returns: false when too many events wait.
  mutating func append(_ event: UInt8, duration: Interval, gap: Interval) -> Bool {
    guard waiting.count < Self.limit else { return false }
    waiting.append(Event(event: event, duration: Self.samples(duration), gap: Self.samples(gap)))
    return true
  }

  /// Replaces the waiting events with those of tones; the present one goes on (webrtc-pc section 7.2).
  mutating func replace(with tones: [DTMFTone], duration: Interval, gap: Interval) {
    waiting.removeAll()
    for tone in tones {
      switch tone {
      case .digit(let event):
        waiting.append(Event(event: event, duration: Self.samples(duration), gap: Self.samples(gap)))
      case .pause: waiting.append(Event(event: nil, duration: Self.samples(DTMFTone.pauseDuration), gap: 0))
      }
    }
  }

  /// The tones that have not begun (W3C `toneBuffer`).
  var toneBuffer: String {
    var rest = waiting
    var text = ""
    while let next = rest.popFirst() {
      if let character = next.character { text.append(character) }
    }
    return text
  }

  private static func samples(_ interval: Interval) -> Int64 { interval.nanoseconds / 1_000 * 48 / 1_000 }

  mutating func removeAll() {
    waiting.removeAll()
    current = nil
    last = nil
    isPlaying = false
  }

  /// Returns the packet to send for the time of a packet of sound; nil for none.
  mutating func next(from start: Int64, to end: Int64, samplesPerTick: Int64) -> Packet? {
    if current == nil, start >= free { beginNext(at: start) }
    guard let event = current else { return nextRepetition() }
    // A longer event continues with a new timestamp (section 2.5.1.3).
    let longest = Int64(UInt16.max) * samplesPerTick
    let isFull = min(end, event.end) - event.start > longest
    let isEnd = end >= event.end && !isFull
    let packet = Packet(
      event: event.event, start: event.start, duration: isFull ? longest : min(end, event.end) - event.start,
      isEnd: isEnd, isOnset: !event.hasBegun, replacesSound: true)
    current = isEnd ? nil : (event.event, isFull ? event.start + longest : event.start, event.end, true)
    if isEnd { last = (packet, Self.repetitions) }
    return packet
  }

  /// Begins the next event or pause, or tells that all are over.
  private mutating func beginNext(at start: Int64) {
    guard let next = waiting.popFirst() else {
      if isPlaying { toneChanges.append("") }
      isPlaying = false
      return
    }
    free = start + next.duration + next.gap
    if let character = next.character {
      isPlaying = true
      toneChanges.append(String(character))
    }
    guard let event = next.event else { return }
    current = (event, start, start + next.duration, false)
    last = nil
  }

  private mutating func nextRepetition() -> Packet? {
    guard var (packet, remaining) = last else { return nil }
    remaining -= 1
    last = remaining > 0 ? (packet, remaining) : nil
    packet.isOnset = false
    packet.replacesSound = false
    return packet
  }
}
