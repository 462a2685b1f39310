/// One format of an `m=` line with all of its attributes.
package struct CodecDescription: Hashable, Sendable {
  package var payloadType: UInt8
  package var name: String
  package var clockRate: UInt32
  package var channels: UInt8
  package var parameters: FormatParameters
  package var feedback: [Feedback]

  var identity: CodecIdentity {
    CodecIdentity(name: name, clockRate: clockRate, channels: channels, parameters: parameters)
  }

  init(_ capability: CodecCapability, payloadType: UInt8) {
    self.payloadType = payloadType
    name = capability.name
    clockRate = capability.clockRate
    channels = capability.channels
    parameters = capability.parameters
    feedback = capability.feedback
  }

  init(_ map: RTPMap, parameters: FormatParameters = FormatParameters(), feedback: [Feedback] = []) {
    payloadType = map.payloadType
    name = map.encoding
    clockRate = map.clockRate
    channels = map.channels
    self.parameters = parameters
    self.feedback = feedback
  }

  /// Makes the format of a stream that carries retransmissions of `payloadType` (RFC 4588 §8).
  init(retransmitting payloadType: UInt8, as own: UInt8, clockRate: UInt32) {
    self.init(RTPMap(payloadType: own, encoding: "rtx", clockRate: clockRate), parameters: ["apt": "\(payloadType)"])
  }
}

/// The identity of a codec independent of its payload type: names compare without case (RFC 8866 §6.6), and variants of
/// some codecs cannot decode each other.
struct CodecIdentity: Hashable {
  let name: String
  let clockRate: UInt32
  let channels: UInt8
  let variant: String

  init(name: String, clockRate: UInt32, channels: UInt8, parameters: FormatParameters) {
    self.name = name.lowercased()
    self.clockRate = clockRate
    self.channels = channels
    variant =
      switch self.name {
      case "rtx": parameters["apt"] ?? ""
      case "h264": "\(H264Profile(parameters["profile-level-id"])) \(parameters["packetization-mode"] ?? "0")"
      case "vp9", "h265": parameters["profile-id"] ?? "0"
      case "av1": parameters["profile"] ?? "0"
      default: ""
      }
  }

  init(_ capability: CodecCapability) {
    self.init(
      name: capability.name, clockRate: capability.clockRate, channels: capability.channels,
      parameters: capability.parameters)
  }
}

/// The profile in `profile-level-id`, which has several spellings (RFC 6184 §8.1, table 5).
enum H264Profile: Hashable {
  case constrainedBaseline, baseline, main, extended, high, constrainedHigh
  case other(UInt32)

  init(_ text: String?) {
    // RFC 6184 §8.1: the default is baseline at level 1.
    let number = text.flatMap { UInt32($0, radix: 16) } ?? 0x42_00_0A
    let constraints = UInt8(truncatingIfNeeded: number >> 8)
    self =
      switch (number >> 16, constraints) {
      case (0x42, _) where constraints & 0x4F == 0x40: .constrainedBaseline
      case (0x4D, _) where constraints & 0x8F == 0x80: .constrainedBaseline
      case (0x58, _) where constraints & 0xCF == 0xC0: .constrainedBaseline
      case (0x42, _) where constraints & 0x4F == 0: .baseline
      case (0x58, _) where constraints & 0xCF == 0x80: .baseline
      case (0x4D, _) where constraints & 0xAF == 0: .main
      case (0x58, _) where constraints & 0xCF == 0: .extended
      case (0x64, 0x00): .high
      case (0x64, 0x0C): .constrainedHigh
      default: .other(number >> 8)
      }
  }
}

extension MediaDescription {
  /// The known formats in the order of the `m=` line, the preferred one first.
  package var codecs: [CodecDescription] {
    guard isRTP else { return [] }
    // The first line for a payload type wins. Each line is parsed once, regardless of the number of formats.
    var maps: [UInt8: RTPMap] = [:]
    for map in attributes.rtpMaps.reversed() { maps[map.payloadType] = map }
    for map in RTPMap.assigned where maps[map.payloadType] == nil { maps[map.payloadType] = map }
    var parameters: [String: FormatParameters] = [:]
    for line in attributes.values("fmtp").compactMap({ FormatLine($0) }).reversed() {
      parameters[line.format] = line.parameters
    }
    let feedback = attributes.values("rtcp-fb").compactMap { FeedbackLine($0) }
    return formats.compactMap { format in
      guard let number = format.number(UInt8.self), let map = maps[number] else { return nil }
      var codec = CodecDescription(map)
      codec.parameters = parameters[format] ?? FormatParameters()
      codec.feedback = feedback.compactMap { line in
        line.payloadType == nil || line.payloadType == number ? line.feedback : nil
      }
      return codec
    }
  }
}

extension [CodecDescription] {
  /// Returns the payload type of the retransmissions of another one.
  func retransmission(of payloadType: UInt8) -> UInt8? {
    first { $0.role == .retransmission(of: payloadType) }?.payloadType
  }
}

extension FormatParameters {
  /// Returns the parameters of a codec in an answer: our wishes as a receiver. H.264 takes the offered profile, and the
  /// lower of the two levels unless both allow asymmetry (RFC 6184 §8.2.2).
  static func forAnswer(_ codec: String, offered: FormatParameters, local: FormatParameters) -> FormatParameters {
    // The formats inside redundancy, by the offerer's payload types (RFC 2198 section 5).
    if codec.equalsIgnoringCase("red") { return offered }
    let name = "profile-level-id"
    guard codec.equalsIgnoringCase("h264"), let theirs = offered[name].flatMap({ UInt32($0, radix: 16) }),
      let ours = local[name].flatMap({ UInt32($0, radix: 16) })
    else { return local }
    let isAsymmetric = [offered, local].allSatisfy { $0["level-asymmetry-allowed"] == "1" }
    let level = isAsymmetric ? ours & 0xFF : min(theirs & 0xFF, ours & 0xFF)
    let digits = String((theirs & 0xFFFF00) | level, radix: 16)
    var result = local
    result[name] = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
    return result
  }
}
