import CallCore
import Digests
import Testing

@testable import STUN

@Suite struct MessageTests {
  static let id = STUNTransactionID(high: 1, low: 2)
  static let key = STUNKey.shortTerm(password: "secret")

  static func parse(_ bytes: [UInt8]) -> Result<STUNMessage, STUNMalformation> {
    Result { () throws(STUNMalformation) in try STUNMessage(parsing: bytes.span.bytes) }
  }

  static func failure(_ bytes: [UInt8]) -> STUNMalformation? {
    if case .failure(let reason) = parse(bytes) { reason } else { nil }
  }

  /// A message with one attribute of any type and value.
  static func message(type: UInt16, value: [UInt8]) -> [UInt8] {
    var builder = STUNMessageBuilder(.request, .binding, id)
    builder.append(STUNAttribute<[UInt8]>(type), value)
    return builder.bytes
  }

  @Test func `class and method survive the interleaved type field`() {
    for bits in UInt16(0)..<0x1000 {
      for messageClass in [STUNClass.request, .indication, .successResponse, .errorResponse] {
        let type = STUNMessageType(messageClass, STUNMethod(rawValue: bits))
        let read = STUNMessageType(wire: type.wire)
        guard read?.messageClass == messageClass, read?.method.rawValue == bits else {
          Issue.record("method \(bits), class \(messageClass)")
          return
        }
      }
    }
    #expect(STUNMessageType(.successResponse, .binding).wire == 0x0101)
    #expect(STUNMessageType(.errorResponse, .allocate).wire == 0x0113)
    #expect(STUNMessageType(.indication, .data).wire == 0x0017)
  }

  @Test func `every attribute survives building and parsing`() throws {
    let v6 = Endpoint("[2001:db8::7]:9")!
    let v4 = Endpoint("203.0.113.9:65535")!
    var builder = STUNMessageBuilder(.errorResponse, .allocate, Self.id)
    builder.append(.mappedAddress, v6)
    builder.append(.xorMappedAddress, v4)
    builder.append(.alternateServer, v4)
    builder.append(.xorPeerAddress, v6)
    builder.append(.xorRelayedAddress, v6)
    builder.append(.xorRelayedAddress, v4)
    builder.append(.responseOrigin, v4)
    builder.append(.otherAddress, v6)
    builder.append(.username, "ü:b")
    builder.append(.realm, "realm")
    builder.append(.nonce, "")
    builder.append(.software, "x")
    builder.append(.alternateDomain, "turn.example.org")
    builder.append(.userHash, [UInt8](repeating: 7, count: 32))
    builder.append(.data, [1, 2, 3, 4, 5])
    builder.append(.reservationToken, [8, 7, 6, 5, 4, 3, 2, 1])
    builder.append(.lifetime, 600)
    builder.append(.priority, 5)
    builder.append(.iceControlled, 6)
    builder.append(.iceControlling, .max)
    builder.append(.channelNumber, 0x4000)
    builder.append(.useCandidate)
    builder.append(.dontFragment)
    builder.append(.evenPort, true)
    builder.append(.requestedTransport, 17)
    builder.append(.requestedAddressFamily, .ipv6)
    builder.append(.additionalAddressFamily, .ipv6)
    builder.append(.addressErrorCode, STUNAddressError(.ipv6, .addressFamilyNotSupported))
    builder.append(.errorCode, .staleNonce)
    builder.append(.unknownAttributes, STUNAttributeTypes([0x7FFF, 2]))
    builder.append(.passwordAlgorithm, .md5)
    builder.append(.passwordAlgorithms, STUNPasswordAlgorithms([.sha256, .md5]))
    builder.append(.changeRequest, [.changeIP, .changePort])
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(message.messageClass == .errorResponse && message.method == .allocate)
    #expect(message.transactionID == Self.id && message.unknownAttributes.isEmpty)
    #expect(message[.mappedAddress] == v6 && message[.xorMappedAddress] == v4 && message[.alternateServer] == v4)
    #expect(message[.xorPeerAddress] == v6 && message[.responseOrigin] == v4 && message[.otherAddress] == v6)
    #expect(message.all(.xorRelayedAddress) == [v6, v4])
    #expect(message[.username] == "ü:b" && message[.realm] == "realm" && message[.nonce] == "")
    #expect(message[.software] == "x" && message[.alternateDomain] == "turn.example.org")
    #expect(message[.userHash]?.count == 32 && message[.data] == [1, 2, 3, 4, 5])
    #expect(message[.reservationToken] == [8, 7, 6, 5, 4, 3, 2, 1])
    #expect(message[.lifetime] == 600 && message[.priority] == 5)
    #expect(message[.iceControlled] == 6 && message[.iceControlling] == .max)
    #expect(message[.channelNumber] == 0x4000 && message[.evenPort] == true && message[.requestedTransport] == 17)
    #expect(message.contains(.useCandidate) && message.contains(.dontFragment))
    #expect(message[.requestedAddressFamily] == .ipv6 && message[.additionalAddressFamily] == .ipv6)
    #expect(message[.addressErrorCode] == STUNAddressError(.ipv6, .addressFamilyNotSupported))
    #expect(message[.errorCode] == .staleNonce && message[.unknownAttributes]?.types == [0x7FFF, 2])
    #expect(message[.passwordAlgorithm] == .md5 && message[.passwordAlgorithms]?.algorithms == [.sha256, .md5])
    #expect(message[.changeRequest] == [.changeIP, .changePort])
  }

  @Test func `the first of two equal attributes wins`() throws {
    var builder = STUNMessageBuilder(.request, .binding, Self.id)
    builder.append(.priority, 1)
    builder.append(.priority, 2)
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(message[.priority] == 1)
  }

  @Test func `attributes after MESSAGE-INTEGRITY are ignored, except SHA-256 integrity and the fingerprint`() throws {
    var builder = STUNMessageBuilder(.request, .binding, Self.id)
    builder.appendIntegrity(key: Self.key)
    builder.append(.useCandidate)
    builder.append(STUNAttribute<[UInt8]>(0x7FFF), [])
    builder.appendIntegritySHA256(key: Self.key)
    builder.append(.priority, 1)
    builder.appendFingerprint()
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(!message.contains(.useCandidate) && !message.contains(.priority) && message.unknownAttributes.isEmpty)
    #expect(message.contains(.messageIntegritySHA256) && message.hasFingerprint)
    #expect(message.integrity(key: Self.key) == .valid)
  }

  @Test func `MESSAGE-INTEGRITY after its SHA-256 sibling is ignored`() throws {
    var builder = STUNMessageBuilder(.request, .binding, Self.id)
    builder.appendIntegritySHA256(key: Self.key)
    builder.appendIntegrity(key: Self.key)
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(!message.contains(.messageIntegrity) && message.integrity(key: Self.key) == .valid)
  }

  @Test(arguments: [16, 20, 28])
  func `a SHA-256 integrity that is cut short proves nothing`(length: Int) throws {
    var builder = STUNMessageBuilder(.request, .binding, Self.id)
    let code = STUNIntegrity.code(
      .sha256, key: Self.key, of: builder.bytes.span.bytes, upTo: 20, end: 24 + length)
    builder.append(.messageIntegritySHA256, Array(code.prefix(length)))
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(message.hasIntegrity && message.integrity(key: Self.key) == .invalid)
  }

  @Test func `a message without integrity says so`() throws {
    let message = try STUNMessage(parsing: STUNMessageBuilder(.request, .binding, Self.id).bytes.span.bytes)
    #expect(message.integrity(key: Self.key) == .absent && !message.hasIntegrity)
  }

  @Test func `unknown attributes count only when they must be understood`() throws {
    var builder = STUNMessageBuilder(.request, .binding, Self.id)
    for type: UInt16 in [0x7FFE, 0xFFFE, 0x0030, 0x7FFE] { builder.append(STUNAttribute<[UInt8]>(type), [1]) }
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(message.unknownAttributes == [0x7FFE, 0x0030])
  }

  @Test func `the list of unknown attributes is bounded`() throws {
    var builder = STUNMessageBuilder(.request, .binding, Self.id)
    for type in UInt16(0x7000)..<0x7100 { builder.append(STUNAttribute<[UInt8]>(type), []) }
    let message = try STUNMessage(parsing: builder.bytes.span.bytes)
    #expect(message.unknownAttributes == Array(0x7000..<0x7020))
  }

  @Test func `malformed datagrams are told apart`() {
    let good = vectorRequest
    #expect(Self.failure([]) == .truncatedHeader)
    #expect(Self.failure(Array(good.prefix(19))) == .truncatedHeader)
    #expect(Self.failure([0x80] + good.dropFirst()) == .notSTUN)
    #expect(Self.failure(good.replacing(4, with: 0)) == .noMagicCookie)
    #expect(Self.failure(good + [0, 0, 0, 0]) == .wrongLength)
    #expect(Self.failure(good.replacing(3, with: 0x57)) == .wrongLength)
    #expect(Self.failure(good.replacing(23, with: 0xFF)) == .truncatedAttribute)
    #expect(Self.failure(good.replacing(good.count - 1, with: 0)) == .wrongFingerprint)
    #expect(Self.failure(Self.message(type: 0x0024, value: [1, 2, 3])) == .wrongAttributeLength(type: 0x0024))
    #expect(Self.failure(Self.message(type: 0x001C, value: .init(repeating: 0, count: 18))) != nil)
    var early = STUNMessageBuilder(.request, .binding, Self.id)
    early.appendFingerprint()
    early.append(.priority, 1)
    #expect(Self.failure(early.bytes) == .attributeAfterFingerprint)
  }

  @Test(arguments: [
    [0, 3, 0, 1, 1, 2, 3, 4], [0, 2, 0, 1, 1, 2, 3, 4], [0, 1, 0, 1] + [UInt8](repeating: 0, count: 16),
  ])
  func `an address of the wrong family or size reads as nil`(value: [UInt8]) throws {
    let message = try STUNMessage(parsing: Self.message(type: 0x0012, value: value).span.bytes)
    #expect(message.contains(.xorPeerAddress) && message[.xorPeerAddress] == nil)
    #expect(message.all(.xorPeerAddress) == nil)
  }

  @Test(arguments: [vectorRequest, vectorIPv6Response, vectorSHA256Request])
  func `no truncation and no single-byte mutation traps, and none inside the protected part verifies`(good: [UInt8]) {
    let key =
      good == vectorSHA256Request
      ? STUNKey.longTerm(username: "マトリックス", realm: "example.org", password: "TheMatrIX", algorithm: .sha256)
      : VectorTests.password
    for count in 0..<good.count { #expect(Self.failure(Array(good.prefix(count))) != nil) }
    // A fingerprint whose type is damaged is one more attribute to ignore; all before it is protected.
    let protected = good == vectorSHA256Request ? good.count : good.count - 8
    for index in good.indices {
      for flip: UInt8 in [0x01, 0x80, 0xFF] {
        let mutated = good.replacing(index, with: good[index] ^ flip)
        if case .success(let message) = Self.parse(mutated) {
          let verdict = message.integrity(key: key)
          #expect(index >= protected || verdict != .valid)
        }
      }
    }
  }

  @Test func `random attributes parse to what was built`() throws {
    var random = RandomStream(seed: 5)
    for _ in 0..<200 {
      var builder = STUNMessageBuilder(.request, .binding, STUNTransactionID(from: &random))
      var expected: [[UInt8]] = []
      for _ in 0..<random.uniform(below: 6) {
        let value = random.bytes(Int(random.uniform(below: 40)))
        expected.append(value)
        builder.append(.data, value)
      }
      let address = Endpoint(IPAddress(v6: random.next(), random.next()), port: UInt16(random.uniform(below: 65_536)))
      builder.append(.xorPeerAddress, address)
      builder.appendIntegrity(key: Self.key)
      builder.appendFingerprint()
      let message = try STUNMessage(parsing: builder.bytes.span.bytes)
      #expect(message.all(.data) == expected && message[.xorPeerAddress] == address)
      #expect(message.integrity(key: Self.key) == .valid)
    }
  }

  @Test func `random bytes behind a valid header never trap`() {
    var random = RandomStream(seed: 6)
    for _ in 0..<2_000 {
      let body = random.bytes(Int(random.uniform(below: 16)) * 4)
      var bytes = STUNMessageBuilder(.request, .binding, Self.id).bytes
      bytes[3] = UInt8(body.count)
      if case .success(let message) = Self.parse(bytes + body) {
        _ = (message[.errorCode], message[.username], message[.xorMappedAddress], message[.passwordAlgorithms])
        _ = (message[.unknownAttributes], message.integrity(key: Self.key), message[.addressErrorCode])
      }
    }
  }

  @Test func `the demultiplexer tells STUN from DTLS, RTP and ChannelData`() {
    let verdicts = [
      vectorRequest, Array(vectorRequest.prefix(19)), [22] + vectorRequest.dropFirst(),
      [0x80] + vectorRequest.dropFirst(),
      [0x40] + vectorRequest.dropFirst(), vectorRequest.replacing(7, with: 0),
    ].map { isSTUN($0.span.bytes) }
    #expect(verdicts == [true, false, true, false, false, false])
  }
}

extension [UInt8] {
  func replacing(_ index: Int, with byte: UInt8) -> [UInt8] {
    var copy = self
    copy[index] = byte
    return copy
  }
}
