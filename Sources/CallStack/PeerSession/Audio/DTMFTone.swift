internal import CallCore
internal import RTP

/// One character of a tone buffer (webrtc-pc section 7): a DTMF digit, or a pause.
enum DTMFTone: Hashable, Sendable {
  /// The digit of an event of RFC 4733 section 3.2, 0 to 15.
  case digit(UInt8)
  /// A comma: nothing is played for ``pauseDuration``.
  case pause

  static let pauseDuration = Interval.seconds(2)

  /// Makes the tone of a character. Lower-case letters are those of upper case; nil for any other character.
  init?(_ character: Character) {
    guard character != "," else {
      self = .pause
      return
    }
    guard let event = TelephoneEventPayload.event(of: character) else { return nil }
    self = .digit(event)
  }

  /// The character, a letter in upper case.
  var character: Character? {
    switch self {
    case .digit(let event): TelephoneEventPayload.digit(of: event)
    case .pause: ","
    }
  }
}
