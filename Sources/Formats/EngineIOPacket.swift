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
}
