/// The class of a STUN message (RFC 8489 section 5).
package enum STUNClass: UInt16, Hashable, Sendable {
  case request = 0b00, indication = 0b01, successResponse = 0b10, errorResponse = 0b11
}

/// The method of a STUN message: twelve bits (RFC 8489 section 18.2, RFC 8656 section 17).
package struct STUNMethod: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue & 0xFFF }

  package static let binding = STUNMethod(rawValue: 0x001)
  package static let allocate = STUNMethod(rawValue: 0x003)
  package static let refresh = STUNMethod(rawValue: 0x004)
  package static let send = STUNMethod(rawValue: 0x006)
  package static let data = STUNMethod(rawValue: 0x007)
  package static let createPermission = STUNMethod(rawValue: 0x008)
  package static let channelBind = STUNMethod(rawValue: 0x009)
}

extension STUNMethod: CustomStringConvertible {
  /// The name in RFC 8489 and RFC 8656.
  package var description: String {
    switch self {
    case .binding: "Binding"
    case .allocate: "Allocate"
    case .refresh: "Refresh"
    case .send: "Send"
    case .data: "Data"
    case .createPermission: "CreatePermission"
    case .channelBind: "ChannelBind"
    default: "method \(rawValue)"
    }
  }
}

/// The first fourteen bits of a message: the method with the class interleaved (RFC 8489 figure 3).
struct STUNMessageType {
  let messageClass: STUNClass
  let method: STUNMethod

  init(_ messageClass: STUNClass, _ method: STUNMethod) {
    self.messageClass = messageClass
    self.method = method
  }

  /// Decodes a message type; returns nil when the two most significant bits are not zero.
  init?(wire: UInt16) {
    guard wire & 0xC000 == 0, let messageClass = STUNClass(rawValue: (wire >> 7) & 0b10 | (wire >> 4) & 0b01) else {
      return nil
    }
    self.messageClass = messageClass
    method = STUNMethod(rawValue: wire & 0x000F | (wire >> 1) & 0x0070 | (wire >> 2) & 0x0F80)
  }

  var wire: UInt16 {
    let bits = method.rawValue
    let (c1, c0) = (messageClass.rawValue >> 1, messageClass.rawValue & 1)
    return bits & 0x000F | (bits & 0x0070) << 1 | (bits & 0x0F80) << 2 | c1 << 8 | c0 << 4
  }
}
