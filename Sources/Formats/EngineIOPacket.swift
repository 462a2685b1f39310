/// One Engine.IO v4 packet, as a WebSocket text message: a digit and its payload.
package struct EngineIOPacket: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case open, close, ping, pong, message, upgrade, noop
  }

  package var kind: Kind
  package var payload: String

  package init(_ kind: Kind, _ payload: String = "") {
    self.kind = kind
    self.payload = payload
  }

  /// Parses a text message; nil if its first character is not a packet type.
  package init?(parsing text: String) {
    guard let first = text.utf8.first, first >= UInt8(ascii: "0"), let kind = Kind(rawValue: first - UInt8(ascii: "0"))
    else { return nil }
    self.init(kind, String(text.dropFirst()))
  }

  package var text: String { "\(kind.rawValue)\(payload)" }

  /// The separator of packets in the body of a request or response.
  private static let separator: Unicode.Scalar = "\u{1E}"

  /// Returns the packets in a body of HTTP long-polling.
  package static func texts(inBody body: String) -> [String] {
    body.unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map { String($0) }
  }

  /// Returns packets as a body of HTTP long-polling.
  package static func body(of texts: some Sequence<String>) -> [UInt8] {
    Array(texts.joined(separator: String(separator)).utf8)
  }
}
