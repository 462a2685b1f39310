internal import Codecs

/// The level of the audio in a packet, as its sender gives it in a header extension (RFC 6464).
public struct AudioLevelIndication: Hashable, Sendable {
  /// The level in −dBov: 0 is the loudest, 127 digital silence.
  public let level: UInt8
  /// Whether the sender believes that the packet contains voice (W3C `voiceActivityFlag`); nil where the two sides have
  /// not agreed on that flag.
  public let hasVoice: Bool?

  /// Makes an indication; levels above 127 are clamped.
  public init(level: UInt8, hasVoice: Bool?) { (self.level, self.hasVoice) = (min(level, 127), hasVoice) }

  /// Makes the indication of audio that is sent.
  init(of level: AudioLevel) { self.init(level: level.rawValue, hasVoice: level.rawValue <= Self.voiceLimit) }

  /// Whether the packet counts as voice: as the sender says, or by its level.
  public var isVoice: Bool { hasVoice ?? (level <= Self.voiceLimit) }

  /// The quietest level that counts as voice. RFC 6464 leaves the method to the sender; this is the model's own.
  private static let voiceLimit: UInt8 = 55
}
