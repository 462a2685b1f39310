internal import CallCore

/// One WebSocket frame (RFC 6455 section 5.2).
public struct WebSocketFrame: Hashable, Sendable {
  /// The type of a frame (RFC 6455 section 11.8).
  public enum Opcode: UInt8, Sendable {
    case continuation = 0x0, text = 0x1, binary = 0x2, close = 0x8, ping = 0x9, pong = 0xA

    var isControl: Bool { rawValue & 0x8 != 0 }
  }

  /// The type of the frame.
  public var opcode: Opcode
  /// Whether the frame is the last fragment of its message.
  public var isFinal: Bool
  /// The unmasked payload.
  public var payload: [UInt8]

  /// Creates a frame.
  public init(_ opcode: Opcode, isFinal: Bool = true, payload: [UInt8]) {
    self.opcode = opcode
    self.isFinal = isFinal
    self.payload = payload
  }

  /// Returns the frame's bytes; a client must pass a masking key (RFC 6455 section 5.3).
  public func encoded(maskingKey: UInt32?) -> [UInt8] {
    var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode.rawValue]
    let maskBit: UInt8 = maskingKey == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: bytes.append(maskBit | UInt8(payload.count))
    case ...0xFFFF:
      bytes.append(maskBit | 126)
      bytes.append(bigEndian: UInt16(payload.count))
    default:
      bytes.append(maskBit | 127)
      bytes.append(bigEndian: UInt64(payload.count))
    }
    guard let maskingKey else { return bytes + payload }
    bytes.append(bigEndian: maskingKey)
    return bytes + Self.masked(payload, with: maskingKey)
  }

  static func masked(_ payload: some Collection<UInt8>, with key: UInt32) -> [UInt8] {
    var bytes = Array(payload)
    var span = bytes.mutableSpan
    for index in span.indices { span[index] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * (index & 3))) }
    return bytes
  }
}

/// A violation of RFC 6455 by the peer, after which the byte stream can no longer be read.
public enum WebSocketError: String, Error, Sendable {
  case reservedBits, unknownOpcode, wrongMasking, fragmentedControl, oversizedControl, messageTooLarge
  case unexpectedContinuation, badHandshake, handshakeTooLarge, invalidUTF8, badCloseFrame

  /// The status code to send to the peer (RFC 6455 section 7.4.1).
  var closeCode: UInt16 {
    switch self {
    case .invalidUTF8: 1007
    case .messageTooLarge: 1009
    default: 1002
    }
  }
}

/// Splits an incoming byte stream into WebSocket frames.
struct WebSocketFrameParser {
  /// The largest message accepted, after reassembly.
  static let messageLimit = 1 << 20

  /// Whether the other side must mask its frames: true on a server.
  let expectsMasking: Bool
  private var buffer: [UInt8] = []
  private var consumed = 0

  init(expectsMasking: Bool) { self.expectsMasking = expectsMasking }

  mutating func append(_ bytes: some Sequence<UInt8>) {
    if consumed > 0 {
      buffer.removeFirst(consumed)
      consumed = 0
    }
    buffer += bytes
  }

  /// Returns the next whole frame, or nil until more bytes arrive.
  mutating func next() throws(WebSocketError) -> WebSocketFrame? {
    let available = buffer.count - consumed
    guard available >= 2 else { return nil }
    let first = buffer[consumed]
    let second = buffer[consumed + 1]
    guard first & 0x70 == 0 else { throw .reservedBits }
    guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else { throw .unknownOpcode }
    guard (second & 0x80 != 0) == expectsMasking else { throw .wrongMasking }
    var header = 2
    var length = UInt64(second & 0x7F)
    if opcode.isControl {
      guard first & 0x80 != 0 else { throw .fragmentedControl }
      guard length <= 125 else { throw .oversizedControl }
    }
    if length >= 126 {
      let size = length == 126 ? 2 : 8
      guard available >= header + size else { return nil }
      length = buffer[consumed + header..<consumed + header + size].reduce(0) { $0 << 8 | UInt64($1) }
      header += size
    }
    guard length <= UInt64(Self.messageLimit) else { throw .messageTooLarge }
    let maskOffset = consumed + header
    if expectsMasking { header += 4 }
    let total = header + Int(length)
    guard available >= total else { return nil }
    var payload = Array(buffer[consumed + header..<consumed + total])
    if expectsMasking {
      let key = buffer[maskOffset..<maskOffset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      payload = WebSocketFrame.masked(payload, with: key)
    }
    consumed += total
    return WebSocketFrame(opcode, isFinal: first & 0x80 != 0, payload: payload)
  }
}
