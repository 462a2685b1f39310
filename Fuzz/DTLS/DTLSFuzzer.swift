import CallCore
import DTLS
import FuzzHarness

/// Datagrams at a DTLS server that waits for its client, and the shape of their records.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDTLS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    let shape = shape(of: input)
    // libssl takes a hundred times longer than everything else here: mostly what it would be given at all.
    guard shape != .malformed else { return 0 }
    return 1 + handshake(input)
  }
}

private func shape(of datagram: RawSpan) -> RecordShape {
  let shape = RecordShape(of: datagram, shortestProtected: 24)
  var offset = 0
  while let high = datagram.byte(at: offset + 11), let low = datagram.byte(at: offset + 12) {
    let end = offset + 13 + (Int(high) << 8 | Int(low))
    guard end <= datagram.byteCount else { break }
    offset = end
  }
  require(shape != .wellFormed || offset == datagram.byteCount, "records do not end with their datagram")
  return shape
}

private let certificate = Certificate.generate(
  name: "fuzz", entropy: .stream(RandomSource(seed: 1).stream("certificate")), wallClock: WallClock())
private let path = Path(local: Endpoint("203.0.113.1:1")!, remote: Endpoint("198.51.100.1:2")!)

/// Every two bytes of length cut a datagram from the input; what is left of it is one more.
private func handshake(_ input: RawSpan) -> Int {
  var transport = DTLSTransport(
    certificate: certificate, entropy: .stream(RandomSource(seed: 2).stream("dtls")), configuration: .init())
  transport.bind(to: path, at: .zero)
  try? transport.start(as: .server, remoteFingerprints: [certificate.fingerprint()], at: .zero)
  transport.receive(input, on: path, at: .zero)
  let output = Datagrams()
  var count = output.drain { transport.transmit(into: &$0) }.count
  transport.receive(input, on: path, at: .zero + .milliseconds(10))
  transport.advance(to: .zero + .seconds(2))
  count += output.drain { transport.transmit(into: &$0) }.count
  while let event = transport.nextEvent() { if case .stateChanged = event { count += 1 } }
  require(transport.state != .connected, "a handshake that nobody can have finished")
  return count
}
