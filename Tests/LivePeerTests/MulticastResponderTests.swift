import CallCore
import Testing

@testable import LivePeer

/// What the link hears of our names (RFC 6762), without sockets.
@Suite struct MulticastResponderTests {
  private static let name = "5df3f44b-8737-4fa0-a707-d72a4532e84b.local"
  private static let address = InterfaceAddress(name: "eth0", address: IPAddress("198.18.1.3")!, index: 2)
  private static let asker = Endpoint("198.18.1.9:5353")!

  /// A responder with one name, and what it said.
  private struct Link {
    var responder = MulticastResponder()
    var now = Instant.zero

    init(_ address: InterfaceAddress = MulticastResponderTests.address) {
      responder.add(MulticastResponderTests.name, of: address, at: .zero)
    }

    typealias Sent = (at: Instant, message: [UInt8], to: MulticastResponder.Destination)

    /// Runs for as long as `duration`, to each deadline in turn.
    mutating func run(for duration: Interval = .zero) -> [Sent] {
      let end = now + duration
      var sent: [Sent] = []
      while true {
        responder.advance(to: now)
        while let (message, destination) = responder.nextMessage() { sent.append((now, message, destination)) }
        guard let deadline = responder.deadline, deadline <= end else { break }
        now = max(now, deadline)
      }
      now = end
      return sent
    }

    mutating func ask(_ message: [UInt8], from source: Endpoint = MulticastResponderTests.asker) {
      responder.receive(message.span.bytes, from: source, at: now)
    }
  }

  private static func question(
    _ type: UInt8, of name: String = name, unicast: Bool = false, identifier: UInt8 = 0, known: [UInt8] = []
  ) -> [UInt8] {
    [0, identifier, 0, 0, 0, 1, 0, known.isEmpty ? 0 : 1, 0, 0, 0, 0] + MulticastDNSMessage.encoded(name)
      + [0, type, unicast ? 0x80 : 0, 1] + known
  }

  private func addresses(_ message: [UInt8]) -> [IPAddress] {
    MulticastDNSMessage.addresses(of: Self.name, in: message.span.bytes)
  }

  @Test func `a name is announced twice, a second apart, on its interface, for two minutes`() {
    var link = Link()
    let sent = link.run(for: .seconds(10))
    #expect(sent.map(\.at.seconds) == [0, 1])
    #expect(sent.allSatisfy { $0.to == .group(interface: 2) })
    let record: [UInt8] =
      MulticastDNSMessage.encoded(Self.name) + [0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 198, 18, 1, 3]
    let noOther =
      [0xC0, 12, 0, 47, 0x80, 1, 0, 0, 0, 120, 0, 47] + MulticastDNSMessage.encoded(Self.name) + [0, 1, 0x40]
    #expect(sent[0].message == [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 1] + record + noOther)
  }

  @Test func `an IPv6 address is announced as AAAA, and that there is no A`() throws {
    var link = Link(InterfaceAddress(name: "eth0", address: IPAddress("fd18::2")!, index: 2))
    let message = try #require(link.run().first?.message)
    #expect(addresses(message) == [IPAddress("fd18::2")!])
    #expect(message.suffix(6) == [0, 4, 0, 0, 0, 8])
  }

  @Test(arguments: [1, 28, 255] as [UInt8])
  func `a question of any kind is answered with the address there is, whatever the case of the name`(type: UInt8) {
    var link = Link()
    _ = link.run(for: .seconds(60))
    link.ask(Self.question(type, of: Self.name.uppercased()))
    let sent = link.run(for: .seconds(10))
    #expect(sent.map(\.to) == [.group(interface: 2)] && addresses(sent[0].message) == [Self.address.address])
  }

  @Test func `a record is multicast once a second at most`() {
    var link = Link()
    _ = link.run(for: .seconds(60))
    var sent: [Link.Sent] = []
    for _ in 0..<20 {
      link.ask(Self.question(1))
      sent += link.run(for: .milliseconds(100))
    }
    #expect(sent.map(\.at.seconds) == [60, 61, 62])
  }

  @Test func `who wants the answer alone gets it alone, when the others have heard it lately`() {
    var link = Link()
    _ = link.run(for: .seconds(20))
    link.ask(Self.question(1, unicast: true))
    let early = link.run()
    #expect(early.map(\.to) == [.host(Self.asker)] && addresses(early[0].message) == [Self.address.address])
    _ = link.run(for: .seconds(20))
    link.ask(Self.question(1, unicast: true))
    #expect(link.run().map(\.to) == [.group(interface: 2)])
  }

  @Test func `who knows the answer for another minute is not told again`() {
    let record: (UInt8) -> [UInt8] = { [0xC0, 12, 0, 1, 0x80, 1, 0, 0, 0, $0, 0, 4, 198, 18, 1, 3] }
    var link = Link()
    _ = link.run(for: .seconds(60))
    link.ask(Self.question(1, known: record(60)))
    #expect(link.run(for: .seconds(2)).isEmpty)
    link.ask(Self.question(1, known: record(59)))
    #expect(link.run(for: .seconds(2)).count == 1)
  }

  @Test func `a plain DNS client gets its question back with a short-lived answer`() throws {
    var link = Link()
    _ = link.run(for: .seconds(5))
    let client = Endpoint("198.18.1.9:40000")!
    link.ask(Self.question(1, identifier: 7), from: client)
    let sent = link.run(for: .seconds(5))
    #expect(sent.map(\.to) == [.host(client)])
    let message = try #require(sent.first?.message)
    let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 10, 0, 4, 198, 18, 1, 3]
    let expected: [UInt8] = [0, 7, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0]
    #expect(message == expected + MulticastDNSMessage.encoded(Self.name) + [0, 1, 0, 1] + record)
    link.ask(Self.question(28, identifier: 8), from: client)
    #expect(link.run(for: .seconds(5)).isEmpty)
  }

  @Test(arguments: [
    ("another's name", question(1, of: "other.local"), asker),
    ("a response", [0, 0, 0x84] + question(1).dropFirst(3), asker),
    ("from afar", question(1), Endpoint("[2001:db8::9]:5353")!),
    ("cut off", Array(question(1).dropLast(2)), asker),
    ("nothing", [], asker),
  ])
  func `what is no question to us is not answered`(what: String, message: [UInt8], source: Endpoint) {
    var link = Link()
    _ = link.run(for: .seconds(60))
    link.ask(message, from: source)
    #expect(link.run(for: .seconds(5)).isEmpty)
  }

  @Test func `a name that is withdrawn is taken back, and not answered for again`() throws {
    var link = Link()
    _ = link.run(for: .seconds(60))
    link.responder.remove(Self.name)
    let goodbye = try #require(link.run().first)
    // The lifetime stands before the length and the four bytes of the address.
    let answer = goodbye.message.dropFirst(12 + MulticastDNSMessage.encoded(Self.name).count)
    #expect(Array(answer.prefix(14)) == [0, 1, 0x80, 1, 0, 0, 0, 0, 0, 4, 198, 18, 1, 3])
    link.ask(Self.question(1))
    #expect(link.run(for: .seconds(5)).isEmpty && link.responder.isEmpty && link.responder.deadline == nil)
  }

  @Test func `no noise traps`() {
    var link = Link()
    var random = RandomStream(seed: 5)
    let whole = Self.question(1, known: [0xC0, 12, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 198, 18, 1, 3])
    for length in 0..<whole.count { link.ask(Array(whole.prefix(length))) }
    for _ in 0..<2_000 {
      var message = whole
      for _ in 0..<4 { message[Int(random.uniform(below: UInt64(whole.count)))] = random.bytes(1)[0] }
      link.ask(message)
      link.ask(random.bytes(Int(random.uniform(below: 200))))
    }
    #expect(link.run(for: .seconds(5)).count < 10)
  }
}
