internal import CallCore

/// ERROR-CODE: a number from 300 to 699 and a reason for people (RFC 8489 section 14.8).
public struct STUNError: STUNAttributeValue, Error, Hashable {
  public let code: UInt16
  public let reason: String

  public init(_ code: UInt16, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNError? {
    guard let word = bytes.bigEndian(UInt32.self, at: 0), let text = bytes.bytes(in: 4..<bytes.byteCount) else {
      return nil
    }
    let (hundreds, rest) = (UInt16(truncatingIfNeeded: word >> 8) & 7, UInt16(truncatingIfNeeded: word) & 0xFF)
    guard (3...6).contains(hundreds), rest < 100 else { return nil }
    return STUNError(hundreds * 100 + rest, String(decoding: text, as: UTF8.self))
  }

  public func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    bytes.append(bigEndian: UInt32(code / 100) << 8 | UInt32(code % 100))
    bytes.append(contentsOf: reason.utf8)
  }
}

extension STUNError: CustomStringConvertible {
  public var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }
}

// RFC 8489 section 18.3, RFC 8445 section 7.3.1.1, RFC 8656 section 19.
extension STUNError {
  public static let tryAlternate = STUNError(300, "Try Alternate")
  public static let badRequest = STUNError(400, "Bad Request")
  public static let unauthenticated = STUNError(401, "Unauthenticated")
  public static let forbidden = STUNError(403, "Forbidden")
  public static let unknownAttribute = STUNError(420, "Unknown Attribute")
  public static let allocationMismatch = STUNError(437, "Allocation Mismatch")
  public static let staleNonce = STUNError(438, "Stale Nonce")
  public static let addressFamilyNotSupported = STUNError(440, "Address Family not Supported")
  public static let wrongCredentials = STUNError(441, "Wrong Credentials")
  public static let unsupportedTransport = STUNError(442, "Unsupported Transport Protocol")
  public static let peerAddressFamilyMismatch = STUNError(443, "Peer Address Family Mismatch")
  public static let allocationQuotaReached = STUNError(486, "Allocation Quota Reached")
  public static let roleConflict = STUNError(487, "Role Conflict")
  public static let serverError = STUNError(500, "Server Error")
  public static let insufficientCapacity = STUNError(508, "Insufficient Capacity")
}

/// ADDRESS-ERROR-CODE: why a dual allocation lacks one family (RFC 8656 section 18.12).
public struct STUNAddressError: STUNAttributeValue, Hashable {
  public let family: STUNAddressFamily
  public let error: STUNError

  public init(_ family: STUNAddressFamily, _ error: STUNError) {
    self.family = family
    self.error = error
  }

  public static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNAddressError? {
    guard let family = STUNAddressFamily.decode(bytes, context), let error = STUNError.decode(bytes, context) else {
      return nil
    }
    return STUNAddressError(family, error)
  }

  public func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    let start = bytes.count
    error.encode(into: &bytes, context)
    bytes[start] = family.rawValue
  }
}
