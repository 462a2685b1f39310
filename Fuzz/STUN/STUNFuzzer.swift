import CallCore
import FuzzHarness
import STUN

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSTUN(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in read(input) &+ read(repaired(input).span.bytes) }
}

/// The bytes as the attributes of a message whose header is right, so that chance need not find one.
private func repaired(_ input: RawSpan) -> [UInt8] {
  var input = FuzzInput(input)
  let type = input.word() & 0x3FFF
  let hasFingerprint = input.byte() & 1 == 1
  var message = STUNMessageBuilder(.request, .binding, STUNTransactionID(high: 1, low: 2))
  input.appendAttributes(to: &message)
  if hasFingerprint { message.appendFingerprint() }
  return [UInt8(type >> 8), UInt8(truncatingIfNeeded: type)] + message.bytes.dropFirst(2)
}

private func read(_ datagram: RawSpan) -> Int {
  var server = STUNBindingServer(
    behaviorDiscovery: .init(primary: Endpoint("203.0.113.1:1")!, alternate: Endpoint("203.0.113.2:2")!))
  server.receive(
    datagram, on: Path(local: Endpoint("203.0.113.1:1")!, remote: Endpoint("198.51.100.1:9")!), at: .zero)
  let answers = Datagrams().drain { server.transmit(into: &$0) }
  for answer in answers {
    let bytes = answer.bytes.span.bytes
    let answersClassic =
      !isSTUN(datagram) && isClassicBindingAnswer(bytes) && bytes.bytes(in: 4..<20) == datagram.bytes(in: 4..<20)
    require(answersClassic || (try? STUNMessage(parsing: bytes)) != nil, "the answer is no STUN message")
  }
  guard let message = try? STUNMessage(parsing: datagram) else { return isSTUN(datagram) ? 1 : 0 }
  require(message.bytes == datagram.copied, "a message is not the bytes it was read from")
  let key = STUNKey.shortTerm(password: "password")
  require(message.integrity(key: key) != .valid || message.hasIntegrity, "integrity without a code")
  return answers.count + 2 + message.unknownAttributes.count + survivors(of: message)
}

/// Every attribute that reads is written and read again, and must be the same.
private func survivors(of message: STUNMessage) -> Int {
  func survives<Value: Equatable>(_ attribute: STUNAttribute<Value>) -> Int {
    guard let value = message[attribute] else { return 0 }
    var copy = STUNMessageBuilder(message.messageClass, message.method, message.transactionID)
    copy.append(attribute, value)
    let again = try? STUNMessage(parsing: copy.bytes.span.bytes)
    require(again?[attribute] == value, "attribute \(attribute.type) does not survive")
    return 1
  }
  var count = 0
  let endpoints: [STUNAttribute<Endpoint>] = [
    .mappedAddress, .xorMappedAddress, .alternateServer, .xorPeerAddress, .xorRelayedAddress, .responseOrigin,
    .otherAddress,
  ]
  for attribute in endpoints { count += survives(attribute) }
  for attribute: STUNAttribute<String> in [.username, .realm, .nonce, .software, .alternateDomain] {
    count += survives(attribute)
  }
  for attribute: STUNAttribute<[UInt8]> in [.userHash, .data, .reservationToken] { count += survives(attribute) }
  for attribute: STUNAttribute<UInt32> in [.lifetime, .priority, .networkInfo] { count += survives(attribute) }
  for attribute: STUNAttribute<UInt64> in [.iceControlled, .iceControlling] { count += survives(attribute) }
  count += survives(.channelNumber) + survives(.responsePort) + survives(.useCandidate) + survives(.dontFragment)
  count += survives(.evenPort) + survives(.requestedTransport)
  count += survives(.requestedAddressFamily) + survives(.additionalAddressFamily)
  count += survives(.addressErrorCode) + survives(.errorCode) + survives(.unknownAttributes)
  count += survives(.passwordAlgorithm) + survives(.passwordAlgorithms) + survives(.changeRequest)
  return count
}
