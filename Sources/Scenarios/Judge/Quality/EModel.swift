internal import Foundation

/// The E-model: computes a transmission rating R and a mean opinion score from delay, loss and echo.
///
/// ITU-T G.107 (narrowband), G.107.1 (wideband) and G.107.2 (fullband). Scores of different bandwidths are on
/// different scales and are never compared.
struct EModel {
  enum Bandwidth: Sendable {
    case narrowband, wideband, fullband

    /// The basic rating of a channel without impairment; narrowband computes it from noise and loudness.
    var basicRating: Double {
      switch self {
      case .narrowband: 100
      case .wideband: 129
      case .fullband: 148
      }
    }
    /// The length of the scale relative to the narrowband scale.
    var scale: Double { basicRating / 100 }
    /// The maximum equipment impairment: the constant of G.107 equation 7-29.
    fileprivate var largestImpairment: Double { self == .fullband ? 132 : 95 }
  }

  /// The sensitivity of a codec with packet loss concealment: G.113.
  struct Codec: Sendable, Hashable {
    /// The equipment impairment factor without loss.
    var impairment: Double
    /// The packet-loss robustness factor.
    var robustness: Double

    /// G.711 with packet loss concealment by Appendix I, narrowband.
    static let g711WithConcealment = Codec(impairment: 0, robustness: 25.1)
    /// **Assumed.** The ITU publishes no values for Opus. It is assumed to impair speech as EVS-SWB does at the same
    /// bit rate (G.113 09/2024, fullband), with linear interpolation between the published rates. Above 24.4 kbit/s the
    /// published impairments of EVS rise again, for which Opus gives no reason; there the value at 24.4 kbit/s is used.
    ///
    /// - Parameter bitrate: the bit rate of the speech, in kbit/s.
    static func opus(bitrate: Double) -> Codec {
      let table: [(rate: Double, codec: Codec)] = [
        (9.6, Codec(impairment: 22.7, robustness: 13)), (13.2, Codec(impairment: 17.1, robustness: 11.7)),
        (16.4, Codec(impairment: 10.8, robustness: 10.3)), (24.4, Codec(impairment: 7.2, robustness: 11.4)),
      ]
      guard let above = table.firstIndex(where: { $0.rate >= bitrate }) else { return table[table.count - 1].codec }
      guard above > 0 else { return table[0].codec }
      let (low, high) = (table[above - 1], table[above])
      let share = (bitrate - low.rate) / (high.rate - low.rate)
      return Codec(
        impairment: low.codec.impairment + (high.codec.impairment - low.codec.impairment) * share,
        robustness: low.codec.robustness + (high.codec.robustness - low.codec.robustness) * share)
    }

    /// **Derived.** G.711 with concealment in a fullband conversation. R is one scale that wideband and fullband extend:
    /// the impairment is the distance from the fullband maximum of 148 to 93.2, the narrowband rating without other
    /// impairments (G.107). The robustness is that of G.113.
    static let g711Fullband = Codec(impairment: 54.8, robustness: 25.1)
    /// **Partly assumed.** G.722 at 64 kbit/s in a fullband conversation: the distance from 148 to the wideband maximum of
    /// 129 (G.107.1), and the impairment of 13 that G.113 gives on the wideband scale. The ITU publishes no robustness; it
    /// is assumed to be that of G.711, which our stack conceals in the same way.
    static let g722Fullband = Codec(impairment: 32, robustness: 25.1)

    /// The least bit rate at which Opus codes wideband speech: libopus's threshold of 9 kbit/s, and what a measurement may
    /// be below it. Below it is narrowband, of which EVS-SWB says nothing.
    private static let leastOpusBitrate = 8.5

    /// Returns a codec on the fullband scale, by its media type; Opus for an unknown one, and nil for one without published
    /// values: neither G.113 nor another source that is known to us has any of iLBC, iSAC or narrowband Opus.
    ///
    /// - Parameter bitrate: the bit rate of the speech, in kbit/s.
    static func fullband(_ format: AudioFormat, bitrate: Double) -> Codec? {
      switch format {
      case .g711: .g711Fullband
      case .g722: .g722Fullband
      case .opus: bitrate < leastOpusBitrate ? nil : .opus(bitrate: bitrate)
      case .ilbc, .isac: nil
      }
    }
  }

  /// The impairments of a connection.
  struct Connection: Sendable {
    /// The mouth-to-ear delay, in milliseconds.
    var delay = 0.0
    /// Packets lost after recovery and late packets, in percent.
    var loss = 0.0
    /// The mean length of loss bursts, relative to that of random loss; the model is valid up to 2.
    var burstRatio = 1.0
    /// The one-way delay of the talker's echo path, and the round trip of the listener's, in milliseconds.
    var echoDelay = 0.0
    var roundTrip = 0.0
  }

  var bandwidth: Bandwidth
  var codec: Codec

  // MARK: Rating

  func rating(_ connection: Connection) -> Double {
    let impairment = effectiveImpairment(loss: connection.loss, burstRatio: connection.burstRatio)
    let delay = delayImpairment(connection.delay)
    guard bandwidth == .narrowband else {
      return bandwidth.basicRating - listenerEcho(bandwidth.basicRating, connection.roundTrip) - delay - impairment
    }
    let telephone = Telephone(echoDelay: connection.echoDelay)
    return telephone.basicRating - telephone.simultaneousImpairment - telephone.talkerEcho
      - listenerEcho(telephone.basicRating, connection.roundTrip) - delay - impairment
  }

  func meanOpinionScore(_ connection: Connection) -> Double { meanOpinionScore(rating: rating(connection)) }

  /// G.107 Annex B, with the dip below 1 at the bottom of the scale cut off.
  func meanOpinionScore(rating: Double) -> Double {
    let r = rating / bandwidth.scale
    guard r > 0 else { return 1 }
    guard r < 100 else { return 4.5 }
    return max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
  }

  /// Ie,eff: G.107 equation 7-29.
  func effectiveImpairment(loss: Double, burstRatio: Double) -> Double {
    guard loss > 0 else { return codec.impairment }
    return codec.impairment
      + (bandwidth.largestImpairment - codec.impairment) * loss / (loss / burstRatio + codec.robustness)
  }

  /// Idd: too long a delay, even without echo (G.107 equation 7-27).
  func delayImpairment(_ milliseconds: Double) -> Double {
    guard milliseconds > 100 else { return 0 }
    let x = log2(milliseconds / 100)
    return bandwidth.scale * 25 * (pow(1 + pow(x, 6), 1 / 6) - 3 * pow(1 + pow(x / 3, 6), 1 / 6) + 2)
  }

  /// Idle, with the default weighted echo path loss of 110 dB (G.107 equations 7-25 and 7-26).
  func listenerEcho(_ basicRating: Double, _ roundTrip: Double) -> Double {
    let rle = 10.5 * (110 + 7) * pow(roundTrip + 1, -0.25)
    return (basicRating - rle) / 2 + ((basicRating - rle) * (basicRating - rle) / 4 + 169).squareRoot()
  }
}

/// The narrowband telephone connection of G.107 with the default values of its table 2.
struct Telephone {
  /// The one-way delay of the echo path, in milliseconds.
  var echoDelay = 0.0

  private static let sendLoudness = 8.0
  private static let receiveLoudness = 2.0
  private static let sidetoneMasking = 15.0
  private static let listenerSidetone = 18.0
  private static let sideSensitivity = 3.0
  private static let talkerEchoLoudness = 65.0
  private static let circuitNoise = -70.0
  private static let noiseFloor = -64.0
  private static let roomNoise = 35.0
  private static let overallLoudness = sendLoudness + receiveLoudness

  /// Ro
  var basicRating: Double { 15 - 1.5 * (Self.sendLoudness + noise) }

  /// No: the sum of all noise, in dBm0p.
  private var noise: Double {
    let sendRoom =
      Self.roomNoise - Self.sendLoudness - Self.sideSensitivity - 100
      + 0.004 * pow(Self.roomNoise - Self.overallLoudness - Self.sideSensitivity - 14, 2)
    let heardRoom = Self.roomNoise + 10 * log10(1 + pow(10, (10 - Self.listenerSidetone) / 10))
    let receiveRoom = Self.receiveLoudness - 121 + heardRoom + 0.008 * pow(heardRoom - 35, 2)
    let floor = Self.noiseFloor + Self.receiveLoudness
    return 10 * log10([Self.circuitNoise, sendRoom, receiveRoom, floor].map { pow(10, $0 / 10) }.reduce(0, +))
  }

  /// Is: impairments that occur simultaneously with speech.
  var simultaneousImpairment: Double { loudness + sidetone + quantizing }

  private var loudness: Double {
    let x = Self.overallLoudness + 0.2 * (64 + noise - Self.receiveLoudness)
    return 20 * (pow(1 + pow(x / 8, 8), 1 / 8) - x / 8)
  }

  private var sidetone: Double {
    let echo = exp(-echoDelay / 4) * pow(10, -Self.talkerEchoLoudness / 10)
    let masking = -10 * log10(pow(10, -Self.sidetoneMasking / 10) + echo)
    return 12 * pow(1 + pow((masking - 13) / 6, 8), 1 / 8) - 28 * pow(1 + pow((masking + 1) / 19.4, 35), 1 / 35)
      - 13 * pow(1 + pow((masking - 3) / 33, 13), 1 / 13) + 29
  }

  /// One quantizing distortion unit.
  private var quantizing: Double {
    let q = 37.0
    let g = 1.07 + 0.258 * q + 0.0602 * q * q
    let y = (basicRating - 100) / 15 + 46 / 8.4 - g / 9
    let z = 46.0 / 30 - g / 40
    return 15 * log10(1 + pow(10, y) + pow(10, z))
  }

  /// Idte
  var talkerEcho: Double {
    guard echoDelay >= 1 else { return 0 }
    let t = echoDelay
    let loudness = Self.talkerEchoLoudness - 40 * log10((1 + t / 10) / (1 + t / 150)) + 6 * exp(-0.3 * t * t)
    let re = 80 + 2.5 * (loudness - 14)
    let roe = -1.5 * (noise - Self.receiveLoudness)
    return ((roe - re) / 2 + ((roe - re) * (roe - re) / 4 + 100).squareRoot() - 1) * (1 - exp(-t))
  }
}
