internal import CallCore

/// The attributes that may occur at session and at media level.
extension AttributeList {
  package var direction: MediaDirection? {
    for attribute in all {
      if let direction = MediaDirection(rawValue: attribute.name) { return direction }
    }
    return nil
  }

  package var iceUsernameFragment: String? { value("ice-ufrag") }
  package var icePassword: String? { value("ice-pwd") }
  package var iceOptions: [String] { values("ice-options").flatMap { $0.fields().map(String.init) } }
  package var fingerprints: [Fingerprint] { values("fingerprint").compactMap { Fingerprint($0) } }
  package var setup: SetupRole? { value("setup").flatMap { SetupRole(rawValue: $0) } }
  package var headerExtensions: [HeaderExtension] { values("extmap").compactMap { HeaderExtension($0) } }
  package var streamIDs: [MediaStreamID] { values("msid").compactMap { MediaStreamID($0) } }

  /// The values of `a=candidate`, parsed by ICE (RFC 8839 §5.1).
  package var candidates: [String] { values("candidate") }

  /// The packet time in milliseconds (RFC 8866 §6.4).
  package var packetTime: UInt32? { value("ptime")?.number() }
  package var maximumPacketTime: UInt32? { value("maxptime")?.number() }
  package var sctpPort: UInt16? { value("sctp-port")?.number() }
  package var maximumMessageSize: UInt64? { value("max-message-size")?.number() }

  package var rtpMaps: [RTPMap] { values("rtpmap").compactMap { RTPMap($0) } }
}

/// `a=group` (RFC 5888 §5).
package struct MediaGroup: Hashable, Sendable {
  package var semantics: String
  package var mids: [String]

  init?(_ text: String) {
    let fields = text.fields()
    guard let first = fields.first else { return nil }
    semantics = String(first)
    mids = fields.dropFirst().map(String.init)
  }
}

extension SessionDescription {
  package var groups: [MediaGroup] { attributes.values("group").compactMap { MediaGroup($0) } }

  /// The MIDs of the first BUNDLE group, empty without one (RFC 9143).
  ///
  /// Read often, so no other group is parsed: a description may hold a megabyte of them.
  package var bundle: [String] {
    for attribute in attributes.all where attribute.name == "group" {
      guard let value = attribute.value, value.fields(maximum: 2).first == "BUNDLE" else { continue }
      return MediaGroup(value)?.mids ?? []
    }
    return []
  }

  package func section(mid: String) -> MediaDescription? { media.first { $0.mid == mid } }

  /// Returns the direction of a section: its own, or the session's, or `sendrecv` (RFC 8866 §6.7).
  package func direction(of section: MediaDescription) -> MediaDirection {
    section.attributes.direction ?? attributes.direction ?? .sendrecv
  }
}

extension Attribute {
  /// Whether a known attribute follows its grammar; true for unknown ones.
  var isWellFormed: Bool {
    guard name.isToken else { return false }
    guard let value else { return !Self.needsValue.contains(name) }
    return switch name {
    case "mid": value.isToken
    case "ice-ufrag": value.utf8.allSatisfy(\.isICECharacter) && (4...256).contains(value.utf8.count)
    case "ice-pwd": value.utf8.allSatisfy(\.isICECharacter) && (22...256).contains(value.utf8.count)
    case "fingerprint": Fingerprint(value) != nil
    case "setup": SetupRole(rawValue: value) != nil
    case "rtpmap": RTPMap(value) != nil
    case "fmtp": FormatLine(value) != nil
    case "rtcp-fb": FeedbackLine(value) != nil
    case "extmap": HeaderExtension(value) != nil
    case "ssrc": SourceLine(value) != nil
    case "ssrc-group": SourceGroup(value) != nil
    case "msid": MediaStreamID(value) != nil
    case "group": MediaGroup(value) != nil
    // Malformed lines of `rid` and `simulcast` are ignored, not errors (RFC 8851 section 6.2.2).
    case "candidate", "rid", "simulcast": !value.isEmpty
    case "ptime", "maxptime": value.number(UInt32.self) != nil
    case "sctp-port": value.number(UInt16.self) != nil
    case "max-message-size": value.number(UInt64.self) != nil
    default: true
    }
  }

  private static let needsValue: Set<String> = [
    "mid", "ice-ufrag", "ice-pwd", "fingerprint", "setup", "rtpmap", "fmtp", "rtcp-fb", "extmap", "ssrc", "ssrc-group",
    "msid", "group", "candidate", "rid", "simulcast", "ptime", "maxptime", "sctp-port", "max-message-size",
  ]
}
