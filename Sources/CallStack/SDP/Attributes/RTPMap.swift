/// `a=rtpmap` (RFC 8866 §6.6): the encoding of a payload type.
package struct RTPMap: Hashable, Sendable {
  package var payloadType: UInt8
  package var encoding: String
  package var clockRate: UInt32
  /// The number of channels; 1 when the line has none.
  package var channels: UInt8

  package init(payloadType: UInt8, encoding: String, clockRate: UInt32, channels: UInt8 = 1) {
    self.payloadType = payloadType
    self.encoding = encoding
    self.clockRate = clockRate
    self.channels = channels
  }

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count == 2, let number = fields[0].number(UInt8.self), number < 128 else { return nil }
    let parts = fields[1].fields("/")
    guard parts.count == 2 || parts.count == 3, let rate = parts[1].number(UInt32.self), rate > 0 else { return nil }
    var channels: UInt8 = 1
    if parts.count == 3 {
      guard let count = parts[2].number(UInt8.self), count > 0 else { return nil }
      channels = count
    }
    self.init(payloadType: number, encoding: String(parts[0]), clockRate: rate, channels: channels)
  }

  var text: String { "\(payloadType) \(encoding)/\(clockRate)" + (channels == 1 ? "" : "/\(channels)") }

  /// The payload types that need no `a=rtpmap` (RFC 3551 §6), as far as calls use them.
  static let assigned: [RTPMap] = [
    RTPMap(payloadType: 0, encoding: "PCMU", clockRate: 8_000),
    RTPMap(payloadType: 3, encoding: "GSM", clockRate: 8_000),
    RTPMap(payloadType: 4, encoding: "G723", clockRate: 8_000),
    RTPMap(payloadType: 8, encoding: "PCMA", clockRate: 8_000),
    RTPMap(payloadType: 9, encoding: "G722", clockRate: 8_000),
    RTPMap(payloadType: 13, encoding: "CN", clockRate: 8_000),
    RTPMap(payloadType: 15, encoding: "G728", clockRate: 8_000),
    RTPMap(payloadType: 18, encoding: "G729", clockRate: 8_000),
    RTPMap(payloadType: 31, encoding: "H261", clockRate: 90_000),
    RTPMap(payloadType: 34, encoding: "H263", clockRate: 90_000),
  ]
}

/// One `a=fmtp` line.
struct FormatLine {
  let format: String
  let parameters: FormatParameters

  init?(_ text: String) {
    let (format, parameters) = text.halves(" ")
    guard format.isToken, let parameters else { return nil }
    self.format = String(format)
    self.parameters = FormatParameters(parameters)
  }
}
