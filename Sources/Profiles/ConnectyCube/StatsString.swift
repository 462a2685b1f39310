internal import CallCore

/// The text of a report on the connection to an opponent (`statsString`), line by line.
///
/// The lines are those of the public header of the SDK's relative: the connection (`CN`), video sent and received
/// (`VS`, `VR`), audio sent and received (`AS`, `AR`), and what was lost. What is not sent or received has no line. A
/// number has one form only, so that what is read prints as it was.
struct StatsString: Hashable, Sendable {
  /// A bit rate as it is printed.
  struct Rate: Hashable, Sendable {
    enum Unit: String, CaseIterable, Sendable { case bps, Kbps, Mbps }

    var amount: DecimalNumber
    var unit: Unit
  }

  /// The size of pictures, and how many there are in a second.
  struct Pictures: Hashable, Sendable {
    var width: Int64
    var height: Int64
    var fps: Int64
  }

  struct Connection: Hashable, Sendable {
    /// In milliseconds.
    var roundTripTime: Int64
    var localCandidateType: String
    var remoteCandidateType: String
    var transportType: String
    var sendBitrate: Rate
    var receivedBitrate: Rate
  }

  struct VideoSend: Hashable, Sendable {
    var input: Pictures
    var sent: Pictures
    var actualEncodingBitrate: Rate
    var targetEncodingBitrate: Rate
    var bitrate: Rate
    var availableBandwidth: Rate
    /// In milliseconds.
    var encodeTime: Int64
    var codec: String
    /// The pictures since the report before, and the mean of their quantization parameters.
    var framesEncoded: Int64
    var averageQP: DecimalNumber
  }

  struct VideoReceive: Hashable, Sendable {
    var received: Pictures
    var decodedFps: Int64
    var outputFps: Int64
    var bitrate: Rate
    var availableBandwidth: Rate
    /// In milliseconds.
    var decodeTime: Int64
  }

  struct AudioSend: Hashable, Sendable {
    var bitrate: Rate
    var codec: String
  }

  struct AudioReceive: Hashable, Sendable {
    var bitrate: Rate
    var codec: String
    /// In milliseconds.
    var currentDelay: Int64
    var expandRate: DecimalNumber
  }

  /// The packets lost so far, of each direction and kind. Repeated packets are subtracted from lost ones (RFC 3550
  /// appendix A.3), so that there may be less than none.
  struct PacketsLost: Hashable, Sendable {
    var videoSend: Int64
    var videoReceive: Int64
    var audioSend: Int64
    var audioReceive: Int64
  }

  /// The use of the processor in per cent; nil for a text without it.
  var cpu: Int64?
  var connection: Connection
  var videoSend: VideoSend?
  var videoReceive: VideoReceive?
  var audioSend: AudioSend?
  var audioReceive: AudioReceive?
  var packetsLost: PacketsLost
}

// MARK: Numbers

/// A number with a fixed count of decimal places, zero or more.
struct DecimalNumber: Hashable, Sendable, CustomStringConvertible {
  /// The number without its point.
  let digits: Int64
  let places: Int

  init(digits: Int64, places: Int = 0) {
    self.digits = digits
    self.places = places
  }

  /// Rounds a number of zero or more to so many places. What is no number, or less, is zero.
  init(rounding value: Double, places: Int) {
    let scaled = (0..<places).reduce(value) { scaled, _ in scaled * 10 }.rounded()
    self.init(digits: scaled > 0 ? Int64(exactly: min(scaled, 1e15)) ?? 0 : 0, places: places)
  }

  /// The number without zeros at its end.
  var trimmed: DecimalNumber {
    var (digits, places) = (digits, places)
    while places > 0, digits.isMultiple(of: 10) { (digits, places) = (digits / 10, places - 1) }
    return DecimalNumber(digits: digits, places: places)
  }

  /// The power of ten by which the digits are divided.
  var divisor: Int64 { (0..<places).reduce(1) { power, _ in power * 10 } }

  var description: String {
    guard places > 0 else { return "\(digits)" }
    let fraction = "\(digits % divisor)"
    return "\(digits / divisor)." + String(repeating: "0", count: places - fraction.utf8.count) + fraction
  }
}

extension StatsString.Rate: CustomStringConvertible {
  /// Prints a rate as the SDK's relatives do: above a million in Mbps with two places, above a thousand in whole Kbps.
  init(bitsPerSecond rate: Double) {
    switch rate {
    case _ where rate > 1e6: self.init(amount: DecimalNumber(rounding: rate / 1e6, places: 2), unit: .Mbps)
    case _ where rate > 1e3: self.init(amount: DecimalNumber(rounding: rate / 1e3, places: 0), unit: .Kbps)
    default: self.init(amount: DecimalNumber(rounding: rate, places: 0), unit: .bps)
    }
  }

  var description: String { "\(amount)\(unit.rawValue)" }

  var rate: DataRate {
    let factor: Int64 =
      switch unit {
      case .bps: 1
      case .Kbps: 1_000
      case .Mbps: 1_000_000
      }
    let (bits, isOverflow) = amount.digits.multipliedReportingOverflow(by: factor)
    return .bitsPerSecond(isOverflow ? .max : bits / amount.divisor)
  }
}

// MARK: Printing

extension StatsString.Pictures: CustomStringConvertible {
  var description: String { "\(width)x\(height)@\(fps)fps" }
}

extension StatsString: CustomStringConvertible {
  var description: String { lines.joined(separator: "\n") }

  private var lines: [String] {
    var lines: [String] = []
    if let cpu { lines.append("(cpu)\(cpu)%") }
    lines.append(
      "CN \(connection.roundTripTime)ms | "
        + "\(connection.localCandidateType)->\(connection.remoteCandidateType)/\(connection.transportType) | "
        + "(s)\(connection.sendBitrate) | (r)\(connection.receivedBitrate)")
    if let video = videoSend {
      lines.append("VS (input) \(video.input) | (sent) \(video.sent)")
      lines.append(
        "VS (enc) \(video.actualEncodingBitrate)/\(video.targetEncodingBitrate) | "
          + "(sent) \(video.bitrate)/\(video.availableBandwidth) | \(video.encodeTime)ms | \(video.codec)")
      lines.append("AvgQP (past \(video.framesEncoded) encoded frames) = \(video.averageQP)")
    }
    if let video = videoReceive {
      lines.append(
        "VR (recv) \(video.received) | (decoded)\(video.decodedFps) | (output)\(video.outputFps)fps | "
          + "\(video.bitrate)/\(video.availableBandwidth) | \(video.decodeTime)ms")
    }
    if let audio = audioSend { lines.append("AS \(audio.bitrate) | \(audio.codec)") }
    if let audio = audioReceive {
      lines.append(
        "AR \(audio.bitrate) | \(audio.codec) | \(audio.currentDelay)ms | (expandrate)\(audio.expandRate)")
    }
    let lost = packetsLost
    lines.append(
      "Packets lost: VS \(lost.videoSend) | VR \(lost.videoReceive) | AS \(lost.audioSend) | AR \(lost.audioReceive)")
    return lines
  }
}
