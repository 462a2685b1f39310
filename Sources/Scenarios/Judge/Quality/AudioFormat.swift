internal import CallCore

extension EModel {
  /// The format of the received audio, as far as the model tells formats apart.
  enum AudioFormat: Sendable, Hashable {
    case opus, g711, g722
    /// A modelled format, of which the ITU publishes no impairment: it has no score.
    case ilbc, isac

    /// Makes the format of a media type such as `audio/PCMU`, which compares without case; Opus for an unknown one.
    init(mimeType: String?) {
      self =
        switch mimeType?.lowercased() {
        case "audio/pcmu", "audio/pcma": .g711
        case "audio/g722": .g722
        case "audio/ilbc": .ilbc
        case "audio/isac": .isac
        default: .opus
        }
    }

    /// The delay that the codec adds to the duration of a packet: the look-ahead of Opus at 48 kHz (RFC 6716 section 2),
    /// and the band filters of G.722 (22 samples of 16 kHz). Modelled codecs do not look ahead.
    var lookAhead: Interval {
      switch self {
      case .opus: .microseconds(6_500)
      case .g711, .ilbc, .isac: .zero
      case .g722: .microseconds(1_375)
      }
    }

    /// The longest audio in a packet; libwebrtc has at most 60 ms of codecs beside Opus.
    var longestPacket: Interval { self == .opus ? .milliseconds(120) : .milliseconds(60) }
  }
}
