import CallCore
import Testing

@testable import LivePeer

@Suite struct MulticastDNSTests {
  private static let name = "5df3f44b-8737-4fa0-a707-d72a4532e84b.local"
  private static let encodedName: [UInt8] =
    [36] + Array("5df3f44b-8737-4fa0-a707-d72a4532e84b".utf8) + [5] + Array("local".utf8) + [0]

  private static func response(questions: Int = 0, _ records: [[UInt8]]) -> [UInt8] {
    let header: [UInt8] = [0, 0, 0x84, 0, 0, UInt8(questions), 0, UInt8(records.count), 0, 0, 0, 0]
    let question: [UInt8] = encodedName + [0, 1, 0, 1]
    return header + [[UInt8]](repeating: question, count: questions).joined() + records.joined()
  }

  private static func record(_ owner: [UInt8], type: UInt8, _ data: [UInt8]) -> [UInt8] {
    owner + [0, type, 0x80, 1, 0, 0, 0, 120, 0, UInt8(data.count)] + data
  }

  private func addresses(_ message: [UInt8]) -> [IPAddress] {
    MulticastDNSMessage.addresses(of: Self.name, in: message.span.bytes)
  }

  @Test func `a query asks for both kinds of address of a name`() {
    let query = MulticastDNSMessage.query(for: Self.name)
    let expected: [UInt8] =
      [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0] + Self.encodedName + [0, 1, 0, 1] + Self.encodedName + [0, 28, 0, 1]
    #expect(query == expected)
  }

  @Test func `addresses of both families are read, whatever the case of the name`() {
    let upper = Self.encodedName.map { (97...122).contains($0) ? $0 - 32 : $0 }
    let six: [UInt8] = [0xFD, 0x18] + [UInt8](repeating: 0, count: 13) + [2]
    let found = addresses(
      Self.response([Self.record(Self.encodedName, type: 1, [198, 18, 1, 3]), Self.record(upper, type: 28, six)]))
    #expect(found == [IPAddress("198.18.1.3")!, IPAddress("fd18::2")!])
  }

  @Test func `a name that points back to the question is read`() {
    let found = addresses(Self.response(questions: 1, [Self.record([0xC0, 12], type: 1, [198, 18, 1, 3])]))
    #expect(found == [IPAddress("198.18.1.3")!])
  }

  @Test(
    arguments: [
      ("a query", [0, 0, 0, 0] + response([record(encodedName, type: 1, [1, 2, 3, 4])]).dropFirst(4)),
      ("another's name", response([record([1, 120] + encodedName.suffix(7), type: 1, [1, 2, 3, 4])])),
      ("an address of the wrong size", response([record(encodedName, type: 1, [1, 2, 3])])),
      ("another type", response([record(encodedName, type: 16, [1, 2, 3, 4])])),
      ("a pointer to itself", response([record([0xC0, 12], type: 1, [1, 2, 3, 4])])),
      ("a pointer forwards", response([record([0xC0, 14], type: 1, [1, 2, 3, 4])])),
      ("nothing", []),
    ] as [(String, [UInt8])])
  func `nothing is believed of what gives the name no address`(what: String, message: [UInt8]) {
    #expect(addresses(message).isEmpty)
  }

  @Test func `no cut and no noise traps`() {
    let whole = Self.response(questions: 1, [Self.record([0xC0, 12], type: 1, [198, 18, 1, 3])])
    for length in 0..<whole.count {
      #expect(addresses(Array(whole.prefix(length))).isEmpty)
    }
    var random = RandomStream(seed: 5)
    for _ in 0..<2_000 {
      var message = whole
      for _ in 0..<4 { message[Int(random.uniform(below: UInt64(whole.count)))] = random.bytes(1)[0] }
      _ = addresses(message)
      _ = addresses(random.bytes(Int(random.uniform(below: 200))))
    }
  }

  @Test func `only a single label before .local is a name to ask for`() {
    #expect(MulticastDNSMessage.isName(Self.name) && MulticastDNSMessage.isName("A.LOCAL"))
    for text in [
      "local", ".local", "a.b.local", "example.org", "192.0.2.1", String(repeating: "a", count: 64) + ".local",
    ] {
      #expect(!MulticastDNSMessage.isName(text))
    }
  }
}
