/// The purpose of a format. A section is negotiated for its media, which the other formats assist; only a section
/// without media may consist of events (RFC 4317 section 2.4).
package enum CodecRole: Hashable, Sendable {
  case media
  /// Retransmissions on a separate stream (RFC 4588).
  case retransmission(of: UInt8)
  /// Copies of earlier packets in later ones (`red`, RFC 2198).
  case redundancy
  /// Forward error correction (RFC 5109, RFC 8627).
  case repair
  /// Comfort noise (RFC 3389).
  case comfortNoise
  /// Telephone events (RFC 4733).
  case events

  init(name: String, parameters: FormatParameters) {
    self =
      switch name.lowercased() {
      case "rtx": .retransmission(of: parameters.number("apt").flatMap { UInt8(exactly: $0) } ?? .max)
      case "red": .redundancy
      case "ulpfec", "flexfec", "flexfec-03": .repair
      case "cn": .comfortNoise
      case "telephone-event": .events
      default: .media
      }
  }
}

extension CodecDescription {
  package var role: CodecRole { CodecRole(name: name, parameters: parameters) }
}

extension [CodecDescription] {
  /// The main purpose of a section with these formats.
  var mainRole: CodecRole { contains { $0.role == .media } ? .media : .events }
}

extension CodecCapability {
  package var role: CodecRole { CodecRole(name: name, parameters: parameters) }
}
