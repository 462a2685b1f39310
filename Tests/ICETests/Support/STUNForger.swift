import CallCore
import STUN

@testable import ICE

/// Makes the STUN messages that a peer, or somebody who is not one, might send.
struct STUNForger {
  var username: String?
  var key: STUNKey?
  var priority: UInt32? = 1_862_270_975
  var role: ICERole? = .controlled
  var tieBreaker: UInt64 = 1
  var useCandidate = false
  var unknownAttribute: UInt16?
  var fingerprint = true
  var transaction = STUNTransactionID(high: 7, low: 7)

  /// A request that `receiver` would accept from `sender`.
  init(from sender: ICECredentials?, to receiver: ICECredentials) {
    username = "\(receiver.ufrag):\(sender?.ufrag ?? "none")"
    key = .shortTerm(password: receiver.password)
  }

  var request: [UInt8] {
    var message = STUNMessageBuilder(.request, .binding, transaction)
    if let username { message.append(.username, username) }
    if let role { message.append(role == .controlling ? .iceControlling : .iceControlled, tieBreaker) }
    if let priority { message.append(.priority, priority) }
    if useCandidate { message.append(.useCandidate) }
    if let unknownAttribute { message.append(STUNAttribute<UInt32>(unknownAttribute), 1) }
    if let key { message.appendIntegrity(key: key) }
    if fingerprint { message.appendFingerprint() }
    return message.bytes
  }

  static func success(_ id: STUNTransactionID, mapped: Endpoint?, password: String?) -> [UInt8] {
    var message = STUNMessageBuilder(.successResponse, .binding, id)
    if let mapped { message.append(.xorMappedAddress, mapped) }
    if let password { message.appendIntegrity(key: .shortTerm(password: password)) }
    message.appendFingerprint()
    return message.bytes
  }

  static func error(_ error: STUNError, _ id: STUNTransactionID, password: String?) -> [UInt8] {
    var message = STUNMessageBuilder(.errorResponse, .binding, id)
    message.append(.errorCode, error)
    if let password { message.appendIntegrity(key: .shortTerm(password: password)) }
    message.appendFingerprint()
    return message.bytes
  }
}

func parse(_ bytes: [UInt8]) -> STUNMessage? { try? STUNMessage(parsing: bytes.span.bytes) }
