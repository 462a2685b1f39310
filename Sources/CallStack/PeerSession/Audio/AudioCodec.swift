internal import Codecs
internal import SDP

/// An audio format that a description may offer.
public enum AudioCodec: String, Sendable, CaseIterable {
  /// Opus (RFC 7587).
  case opus
  /// Copies of earlier Opus packets in later ones (RFC 2198).
  case redundancy = "red"
  /// G.722 at 64 kbit/s, whose media clock has 8000 Hz although it samples at 16 kHz (RFC 3551 section 4.5.2).
  case g722 = "G722"
  /// G.711 with the µ-law.
  case pcmu = "PCMU"
  /// G.711 with the A-law.
  case pcma = "PCMA"
  /// iLBC (RFC 3952), modelled: packets of its sizes, with synthetic media alone.
  case ilbc = "iLBC"
  /// iSAC at 16 kHz (draft-ietf-avt-rtp-isac), modelled: packets of its sizes, with synthetic media alone.
  case isac
  /// Comfort noise in the pauses of G.711 and G.722 (RFC 3389).
  case comfortNoise = "CN"
  /// Telephone events, such as DTMF digits (RFC 4733), with the media clock of Opus and with that of the others.
  case telephoneEvents = "telephone-event"

  /// The formats of Chromium, in its order.
  public static let chromium: [AudioCodec] = [
    .opus, .redundancy, .g722, .pcmu, .pcma, .comfortNoise, .telephoneEvents,
  ]

  /// Whether sound can be sent in this format alone.
  public var isMedia: Bool {
    switch self {
    case .opus, .g722, .pcmu, .pcma, .ilbc, .isac: true
    case .redundancy, .comfortNoise, .telephoneEvents: false
    }
  }

  /// Whether there are packets of this codec and no coder: its media are synthetic.
  public var isModelled: Bool { self == .ilbc || self == .isac }

  /// The codec of G.711 and G.722; nil for other formats.
  var telephony: TelephonyCodec? {
    switch self {
    case .pcmu: .pcmu
    case .pcma: .pcma
    case .g722: .g722
    case .opus, .ilbc, .isac, .redundancy, .comfortNoise, .telephoneEvents: nil
    }
  }

  /// Makes the format with a name of SDP, which compares without case.
  init?(_ codec: NegotiatedCodec) {
    let name = codec.name.lowercased()
    guard let known = Self.allCases.first(where: { $0.rawValue.lowercased() == name }) else { return nil }
    self = known
  }
}

extension AudioSettings {
  /// The media capabilities that descriptions announce for these settings.
  var capabilities: MediaCapabilities {
    let extensions =
      [MediaExtensions.midURI] + (transportFeedback ? [MediaExtensions.transportNumberURI] : [])
      + [MediaExtensions.audioLevelURI]
    return MediaCapabilities(codecs: codecs.flatMap(capabilities), headerExtensions: extensions)
  }

  /// Returns the formats of a codec, with Chromium's payload types, or those that are usual for the two it does not have.
  private func capabilities(of codec: AudioCodec) -> [CodecCapability] {
    let feedback: [Feedback] = (transportFeedback ? [.transportCC] : []) + (nack ? [.nack] : [])
    switch codec {
    case .opus:
      return [
        CodecCapability(
          "opus", clockRate: 48_000, channels: 2, parameters: opusParameters, feedback: feedback,
          retransmission: retransmitsOnItsOwnStream, preferredPayloadType: 111)
      ]
    case .redundancy: return [CodecCapability("red", clockRate: 48_000, channels: 2, preferredPayloadType: 63)]
    case .g722, .pcmu, .pcma:
      return [CodecCapability(codec.rawValue, clockRate: 8_000, feedback: feedback)]
    case .ilbc:
      let mode = ILBCMode(packetOf: ptime)
      return [
        CodecCapability(
          codec.rawValue, clockRate: 8_000, parameters: ["mode": "\(mode.rawValue)"], feedback: feedback,
          preferredPayloadType: 102)
      ]
    case .isac:
      return [CodecCapability(codec.rawValue, clockRate: 16_000, feedback: feedback, preferredPayloadType: 103)]
    case .comfortNoise: return [CodecCapability("CN", clockRate: 8_000)]
    case .telephoneEvents:
      return [
        CodecCapability("telephone-event", clockRate: 48_000, preferredPayloadType: 110),
        CodecCapability("telephone-event", clockRate: 8_000, preferredPayloadType: 126),
      ]
    }
  }

  private var opusParameters: FormatParameters {
    var parameters: FormatParameters = ["minptime": "10"]
    if inBandFEC { parameters["useinbandfec"] = "1" }
    if dtx { parameters["usedtx"] = "1" }
    if constantBitrate { parameters["cbr"] = "1" }
    if stereo {
      parameters["stereo"] = "1"
      parameters["sprop-stereo"] = "1"
    }
    return parameters
  }
}
