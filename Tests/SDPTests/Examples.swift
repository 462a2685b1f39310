import Foundation

@testable import SDP

/// The offers and answers printed in an RFC, by the names it gives them.
///
/// Lines are joined where the RFC folds them to its page, and its blank lines for readability are left out.
struct Examples {
  /// RFC 4317: names are the section and which description of it, such as `2.2 second offer`.
  static let offerAnswer = Examples("rfc4317")
  /// RFC 9429 section 7: names are the RFC's own, such as `offer-A1`.
  static let jsep = Examples("rfc9429")

  let names: [String]
  private let texts: [String: String]

  private init(_ file: String) {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let all = try? String(contentsOf: folder.appending(path: "Recorded/\(file).examples"), encoding: .utf8)
    var names: [String] = []
    var texts: [String: String] = [:]
    for line in (all ?? "").split(separator: "\n") {
      if line.hasPrefix("["), line.hasSuffix("]") {
        names.append(String(line.dropFirst().dropLast()))
      } else if let name = names.last {
        texts[name, default: ""] += line + "\r\n"
      }
    }
    (self.names, self.texts) = (names, texts)
  }

  func text(_ name: String) -> String { texts[name] ?? "" }

  func parsed(_ name: String) throws -> SessionDescription { try SessionDescription(parsing: text(name)) }
}

extension SessionDescription {
  /// A description of the days before WebRTC with what WebRTC demands beside codecs and directions: one bundled
  /// transport with ICE and DTLS, and multiplexed RTCP.
  func onOneTransport(setup: SetupRole) -> SessionDescription {
    var result = self
    var bundle: [String] = []
    for index in media.indices {
      result.media[index].transportProtocol = "UDP/TLS/RTP/SAVPF"
      result.media[index].attributes.append("mid", "m\(index)")
      guard media[index].port != 0 else { continue }
      bundle.append("m\(index)")
      result.media[index].attributes.append("rtcp-mux")
    }
    if !bundle.isEmpty { result.attributes.append("group", "BUNDLE " + bundle.joined(separator: " ")) }
    result.attributes.append("ice-ufrag", "ufrg")
    result.attributes.append("ice-pwd", "passwordpasswordpassword")
    result.attributes.append("fingerprint", "sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"))
    result.attributes.append("setup", setup.rawValue)
    return result
  }
}

extension CodecCapability {
  static let telephoneEvents = [
    CodecCapability("telephone-event", clockRate: 8_000), CodecCapability("telephone-event", clockRate: 48_000),
  ]
  static let pcmu = CodecCapability("PCMU", clockRate: 8_000)
  static let pcma = CodecCapability("PCMA", clockRate: 8_000)
  static let h264 = CodecCapability(
    "H264", clockRate: 90_000, parameters: ["packetization-mode": "1", "profile-level-id": "42e01f"],
    retransmission: true)

  init(_ codec: CodecDescription) {
    self.init(codec.name, clockRate: codec.clockRate, channels: codec.channels)
  }
}
