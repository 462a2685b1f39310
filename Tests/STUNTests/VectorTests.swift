import CallCore
import Testing

@testable import STUN

/// RFC 5769, and RFC 8489 appendix B.1 as corrected by its erratum.
@Suite struct VectorTests {
  static let password = STUNKey.shortTerm(password: "VOkJxbRl1RmTxUk/WvJxBt")
  static let id = STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

  @Test func `RFC 5769 2-1 - a short-term request parses and verifies`() throws {
    let bytes = vectorRequest
    let message = try STUNMessage(parsing: bytes.span.bytes)
    #expect(message.messageClass == .request && message.method == .binding)
    #expect(message.transactionID == Self.id)
    #expect(message[.software] == "STUN test client")
    #expect(message[.priority] == 0x6E00_01FF)
    #expect(message[.iceControlled] == 0x932F_F9B1_5126_3B36)
    #expect(message[.username] == "evtj:h6vY")
    #expect(message.hasFingerprint)
    #expect(message.integrity(key: Self.password) == .valid)
    #expect(message.integrity(key: .shortTerm(password: "wrong")) == .invalid)
  }

  @Test func `RFC 5769 2-1 - building the short-term request gives the same bytes`() {
    var builder = STUNMessageBuilder(.request, .binding, Self.id, padding: 0x20)
    builder.append(.software, "STUN test client")
    builder.append(.priority, 0x6E00_01FF)
    builder.append(.iceControlled, 0x932F_F9B1_5126_3B36)
    builder.append(.username, "evtj:h6vY")
    builder.appendIntegrity(key: Self.password)
    builder.appendFingerprint()
    #expect(builder.bytes == vectorRequest)
  }

  @Test(arguments: [
    (vectorIPv4Response, Endpoint("192.0.2.1:32853")!),
    (vectorIPv6Response, Endpoint("[2001:db8:1234:5678:11:2233:4455:6677]:32853")!),
  ])
  func `RFC 5769 2-2 and 2-3 - responses parse, verify and build`(bytes: [UInt8], mapped: Endpoint) throws {
    let message = try STUNMessage(parsing: bytes.span.bytes)
    #expect(message.messageClass == .successResponse && message.method == .binding)
    #expect(message[.xorMappedAddress] == mapped)
    #expect(message[.software] == "test vector")
    #expect(message.hasFingerprint)
    #expect(message.integrity(key: Self.password) == .valid)

    var builder = STUNMessageBuilder(.successResponse, .binding, Self.id, padding: 0x20)
    builder.append(.software, "test vector")
    builder.append(.xorMappedAddress, mapped)
    builder.appendIntegrity(key: Self.password)
    builder.appendFingerprint()
    #expect(builder.bytes == bytes)
  }

  @Test func `RFC 5769 2-4 - a long-term request parses, verifies and builds`() throws {
    let bytes = vectorLongTermRequest
    let message = try STUNMessage(parsing: bytes.span.bytes)
    #expect(message[.username] == "マトリックス")
    #expect(message[.nonce] == "f//499k954d6OL34oL9FSTvy64sA")
    #expect(message[.realm] == "example.org")
    #expect(!message.hasFingerprint)
    let key = STUNKey.longTerm(username: "マトリックス", realm: "example.org", password: "TheMatrIX")
    #expect(message.integrity(key: key) == .valid)

    var builder = STUNMessageBuilder(.request, .binding, message.transactionID)
    builder.append(.username, "マトリックス")
    builder.append(.nonce, "f//499k954d6OL34oL9FSTvy64sA")
    builder.append(.realm, "example.org")
    builder.appendIntegrity(key: key)
    #expect(builder.bytes == vectorLongTermRequest)
  }

  @Test func `RFC 8489 B-1 - a request with USERHASH and SHA-256 parses, verifies and builds`() throws {
    let bytes = vectorSHA256Request
    let message = try STUNMessage(parsing: bytes.span.bytes)
    #expect(message[.userHash] == STUNKey.userHash(username: "マトリックス", realm: "example.org"))
    #expect(message[.passwordAlgorithm] == .sha256)
    let key = STUNKey.longTerm(
      username: "マトリックス", realm: "example.org", password: "TheMatrIX", algorithm: .sha256)
    #expect(message.integrity(key: key) == .valid)

    var builder = STUNMessageBuilder(.request, .binding, message.transactionID)
    builder.append(.userHash, STUNKey.userHash(username: "マトリックス", realm: "example.org"))
    builder.append(.nonce, "obMatJos2AAACf//499k954d6OL34oL9FSTvy64sA")
    builder.append(.realm, "example.org")
    builder.append(.passwordAlgorithm, .sha256)
    builder.appendIntegritySHA256(key: key)
    #expect(builder.bytes == vectorSHA256Request)
  }
}
