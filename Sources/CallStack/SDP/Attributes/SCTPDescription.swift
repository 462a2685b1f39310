/// The SCTP association of data channels, as one side describes it (RFC 8841).
package struct SCTPDescription: Hashable, Sendable {
  /// The SCTP port of that side (RFC 8841 §5).
  package var port: UInt16
  /// The maximum size in bytes of a message that side receives: zero for no limit, nil for the default of 64 KiB
  /// (RFC 8841 §6).
  package var maximumMessageSize: UInt64?

  package init(port: UInt16 = 5_000, maximumMessageSize: UInt64? = nil) {
    self.port = port
    self.maximumMessageSize = maximumMessageSize
  }
}

/// The two ways to write a section of data channels.
enum DataSectionForm {
  /// `UDP/DTLS/SCTP webrtc-datachannel`, the port in `a=sctp-port` (RFC 8841).
  case standard
  /// `DTLS/SCTP 5000`, the format is the port, and `a=sctpmap` names the protocol. aiortc and old browsers offer it
  /// (draft-ietf-mmusic-sctp-sdp-07).
  case draft
}

extension MediaDescription {
  static let dataType = "application"
  static let dataFormat = "webrtc-datachannel"
  static let dataProtocol = "UDP/DTLS/SCTP"

  /// The form of a section of data channels, or nil for any other section.
  var dataForm: DataSectionForm? {
    guard type == Self.dataType else { return nil }
    switch transportProtocol.uppercased() {
    case Self.dataProtocol, "TCP/DTLS/SCTP": return formats == [Self.dataFormat] ? .standard : nil
    case "DTLS/SCTP":
      let mapped = attributes.values("sctpmap").contains { value in
        let fields = value.fields(maximum: 3)
        return fields.count >= 2 && formats == [String(fields[0])] && fields[1] == Self.dataFormat
      }
      return mapped ? .draft : nil
    default: return nil
    }
  }

  /// The association that the section describes, or nil if it has none: it is no section of data channels, or its port
  /// is zero (RFC 8841 §5.2).
  var sctp: SCTPDescription? {
    let port: UInt16?
    switch dataForm {
    // Some peers omit the port, which has no default in RFC 8841; browsers then take this one.
    case .standard: port = attributes.sctpPort ?? 5_000
    case .draft: port = formats[0].number()
    case nil: port = nil
    }
    guard let port, port != 0 else { return nil }
    return SCTPDescription(port: port, maximumMessageSize: attributes.maximumMessageSize)
  }
}
