/// One `m=` section (RFC 8866 §5.14).
package struct MediaDescription: Hashable, Sendable {
  /// RTP with DTLS-SRTP (RFC 5764 §8), and without any protection (RFC 4585).
  static let securedProtocol = "UDP/TLS/RTP/SAVPF"
  static let cleartextProtocol = "RTP/AVPF"

  /// The media type: `audio`, `video`, `application` or any other.
  package var type: String
  package var port: UInt16
  /// The number after the slash of `port/count`.
  package var portCount: UInt16?
  package var transportProtocol: String
  package var formats: [String]
  /// The lines of the section that are not attributes, in order.
  package var lines: [Line]
  package var attributes: AttributeList

  package init(
    type: String, port: UInt16, transportProtocol: String, formats: [String], lines: [Line] = [],
    attributes: AttributeList = []
  ) {
    self.type = type
    self.port = port
    self.transportProtocol = transportProtocol
    self.formats = formats
    self.lines = lines
    self.attributes = attributes
  }

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count >= 4, fields[0].isToken, fields[2].isToken else { return nil }
    let (port, count) = fields[1].halves("/")
    guard let port = port.number(UInt16.self) else { return nil }
    self.init(
      type: String(fields[0]), port: port, transportProtocol: String(fields[2]), formats: fields[3...].map(String.init))
    if let count {
      guard let number = count.number(UInt16.self), number > 0 else { return nil }
      portCount = number
    }
    guard !isRTP || Self.arePayloadTypes(formats) else { return nil }
  }

  /// Returns whether the formats are numbers below 128 without repetition, which also bounds the size of a section.
  private static func arePayloadTypes(_ formats: [String]) -> Bool {
    var seen: Set<UInt8> = []
    return formats.count <= 128
      && formats.allSatisfy { $0.number(UInt8.self).map { $0 < 128 && seen.insert($0).inserted } ?? false }
  }

  var text: String {
    let count = portCount.map { "/\($0)" } ?? ""
    return "\(type) \(port)\(count) \(transportProtocol) \(formats.joined(separator: " "))"
  }

  package var kind: MediaKind? { MediaKind(rawValue: type) }

  /// Whether the protocol is an RTP profile that RFC 9429 §5.1.2 accepts, in any case.
  package var isRTP: Bool {
    switch transportProtocol.uppercased() {
    case "RTP/AVP", "RTP/AVPF", "RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVP", "UDP/TLS/RTP/SAVPF",
      "TCP/DTLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF":
      true
    default: false
    }
  }

  package var mid: String? { attributes.value("mid") }

  /// Whether the section is rejected: port zero, unless it is bundle-only (RFC 9143 §6).
  package var isRejected: Bool { port == 0 && !attributes.contains("bundle-only") }
}

/// The kinds of media a transceiver carries.
public enum MediaKind: String, Hashable, Sendable, CaseIterable {
  /// Audio.
  case audio
  /// Video.
  case video
}
