import CallCore
import STUN
import Testing

/// Clients of RFC 3489: no magic cookie, 128 bits of transaction.
@Suite struct ClassicBindingTests {
  private static let client = Endpoint("198.51.100.7:4000")!
  private static let primary = Endpoint("203.0.113.1:3478")!
  private static let alternate = Endpoint("203.0.113.2:3479")!
  private static let id: [UInt8] = (0..<16).map { $0 &* 17 }

  private static func request(_ attributes: [UInt8] = []) -> [UInt8] {
    [0, 1, 0, UInt8(attributes.count)] + id + attributes
  }

  private func ask(
    _ bytes: [UInt8], discovery: Bool = false, from client: Endpoint = client, over transport: Path.Transport = .udp
  ) -> (bytes: [UInt8], path: Path)? {
    var server = STUNBindingServer(
      software: "callsim", behaviorDiscovery: discovery ? .init(primary: Self.primary, alternate: Self.alternate) : nil)
    server.receive(
      bytes.span.bytes, on: Path(local: Self.primary, remote: client, transport: transport), at: .zero)
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
    defer { memory.deallocate() }
    var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
    guard let path = server.transmit(into: &output) else { return nil }
    return (output.span.bytes.copied, path)
  }

  @Test func `a request is answered with the whole transaction and addresses in clear`() throws {
    let answer = try #require(ask(Self.request()))
    let expected: [UInt8] =
      [1, 1, 0, 24] + Self.id + [0, 1, 0, 8, 0, 1, 0x0F, 0xA0, 198, 51, 100, 7]
      + [0, 4, 0, 8, 0, 1, 0x0D, 0x96, 203, 0, 113, 1]
    #expect(answer.bytes == expected && answer.path == Path(local: Self.primary, remote: Self.client))
  }

  @Test func `a server with another address names it and answers from it when asked`() throws {
    let answer = try #require(ask(Self.request([0, 3, 0, 4, 0, 0, 0, 6]), discovery: true))
    #expect(answer.path.local == Self.alternate)
    #expect(Array(answer.bytes.suffix(12)) == [0, 5, 0, 8, 0, 1, 0x0D, 0x97, 203, 0, 113, 2])
  }

  @Test(
    arguments: [[0, 3, 0, 4, 0, 0, 0, 6], [0, 2, 0, 8, 0, 1, 0, 1, 10, 0, 0, 1], [0x12, 0x34, 0, 0]] as [[UInt8]])
  func `what cannot be done is refused with 420 and named, and goes to the asker alone`(attribute: [UInt8]) throws {
    let answer = try #require(ask(Self.request(attribute)))
    let kind = Array(attribute.prefix(2))
    #expect(answer.path == Path(local: Self.primary, remote: Self.client))
    #expect(answer.bytes.starts(with: [1, 0x11]) && Array(answer.bytes[4..<20]) == Self.id)
    #expect(Array(answer.bytes.suffix(8)) == [0, 10, 0, 4] + kind + kind)
    #expect(answer.bytes.count < 3 * (20 + attribute.count) + 40)
  }

  @Test(
    arguments: [
      [0, 1, 0, 4] + id, [0, 1, 0, 0] + id + [0], [0, 2, 0, 0] + id, [1, 1, 0, 0] + id,
      [0, 1, 0, 8] + id + [0, 3, 0, 9, 0, 0, 0, 0], [0, 1, 0, 0] + id.prefix(15),
    ] as [[UInt8]])
  func `what is no whole request gets no answer`(bytes: [UInt8]) { #expect(ask(bytes) == nil) }

  @Test func `such clients come by UDP alone`() { #expect(ask(Self.request(), over: .tcp) == nil) }
}
