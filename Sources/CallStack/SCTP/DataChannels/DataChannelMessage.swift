/// A message of a data channel.
public enum DataChannelMessage: Hashable, Sendable {
  /// A text, in UTF-8 on the wire.
  case string(String)
  /// Bytes.
  case binary([UInt8])

  /// The size in bytes, of a string in UTF-8.
  public var byteCount: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }

  /// The payload protocol identifiers of data channels (RFC 8831 section 8).
  enum PPID {
    static let dcep: UInt32 = 50
    static let string: UInt32 = 51
    static let binaryPartial: UInt32 = 52
    static let binary: UInt32 = 53
    static let stringPartial: UInt32 = 54
    static let stringEmpty: UInt32 = 56
    static let binaryEmpty: UInt32 = 57
  }

  /// Reads a message, or returns nil if its identifier is no data channel's.
  init?(ppid: UInt32, payload: [UInt8]) {
    switch ppid {
    // The partial ones are deprecated, and come whole.
    case PPID.string, PPID.stringPartial: self = .string(String(decoding: payload, as: UTF8.self))
    case PPID.binary, PPID.binaryPartial: self = .binary(payload)
    case PPID.stringEmpty: self = .string("")
    case PPID.binaryEmpty: self = .binary([])
    default: return nil
    }
  }

  var ppid: UInt32 {
    switch self {
    case .string(let text): text.isEmpty ? PPID.stringEmpty : PPID.string
    case .binary(let bytes): bytes.isEmpty ? PPID.binaryEmpty : PPID.binary
    }
  }

  /// The payload on the wire: SCTP has no empty messages, so they are one byte (RFC 8831 section 6.6).
  var payload: [UInt8] {
    switch self {
    case .string(let text): text.isEmpty ? [0] : [UInt8](text.utf8)
    case .binary(let bytes): bytes.isEmpty ? [0] : bytes
    }
  }
}
