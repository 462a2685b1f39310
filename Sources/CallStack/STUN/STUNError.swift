internal import CallCore

/// ERROR-CODE: a number from 300 to 699 and a readable reason (RFC 8489 section 14.8).
package struct STUNError: STUNAttributeValue, Error, Hashable {
  package let code: UInt16
  package let reason: String

  package init(_ code: UInt16, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNError? {
    guard let word = bytes.bigEndian(UInt32.self, at: 0), let text = bytes.bytes(in: 4..<bytes.byteCount) else {
      return nil
    }
    let (hundreds, rest) = (UInt16(truncatingIfNeeded: word >> 8) & 7, UInt16(truncatingIfNeeded: word) & 0xFF)
    guard (3...6).contains(hundreds), rest < 100 else { return nil }
    return STUNError(hundreds * 100 + rest, String(decoding: text, as: UTF8.self))
  }

  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    bytes.append(bigEndian: UInt32(code / 100) << 8 | UInt32(code % 100))
    bytes.append(contentsOf: reason.utf8)
  }
}

extension STUNError: CustomStringConvertible {
  package var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }
}

// RFC 8489 section 18.3, RFC 8445 section 7.3.1.1, RFC 8656 section 19.
extension STUNError {
  package static let tryAlternate = STUNError(300, "Try Alternate")
  package static let badRequest = STUNError(400, "Bad Request")
  package static let unauthenticated = STUNError(401, "Unauthenticated")
  package static let forbidden = STUNError(403, "Forbidden")
  package static let unknownAttribute = STUNError(420, "Unknown Attribute")
  package static let allocationMismatch = STUNError(437, "Allocation Mismatch")
  package static let staleNonce = STUNError(438, "Stale Nonce")
  package static let addressFamilyNotSupported = STUNError(440, "Address Family not Supported")
  package static let wrongCredentials = STUNError(441, "Wrong Credentials")
  package static let unsupportedTransport = STUNError(442, "Unsupported Transport Protocol")
  package static let peerAddressFamilyMismatch = STUNError(443, "Peer Address Family Mismatch")
  package static let allocationQuotaReached = STUNError(486, "Allocation Quota Reached")
  package static let roleConflict = STUNError(487, "Role Conflict")
  package static let serverError = STUNError(500, "Server Error")
  package static let insufficientCapacity = STUNError(508, "Insufficient Capacity")
}

/// ADDRESS-ERROR-CODE: the reason why a dual allocation lacks one family (RFC 8656 section 18.12).
package struct STUNAddressError: STUNAttributeValue, Hashable {
  package let family: STUNAddressFamily
  package let error: STUNError

  package init(_ family: STUNAddressFamily, _ error: STUNError) {
    self.family = family
    self.error = error
  }

  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNAddressError? {
    guard let family = STUNAddressFamily.decode(bytes, context), let error = STUNError.decode(bytes, context) else {
      return nil
    }
    return STUNAddressError(family, error)
  }

  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    let start = bytes.count
    error.encode(into: &bytes, context)
    bytes[start] = family.rawValue
  }
}
