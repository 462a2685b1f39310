import CallCore
import Foundation
import Synchronization
import Testing

@testable import LivePeer

/// Multicast DNS on this machine's own interfaces.
@Suite struct MulticastSocketTests {
  private static let name = "5df3f44b-8737-4fa0-a707-d72a4532e84b.local"
  /// The loopback interface under an address that does not show it.
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress("198.18.0.1")!, index: 1)
  private static let another = InterfaceAddress.all?.first { !$0.address.isLoopback && !$0.address.isIPv6 }

  /// The interfaces on which somebody on this machine is in the IPv4 group.
  private static var joined: Set<UInt32> {
    var (found, interface): (Set<UInt32>, UInt32) = ([], 0)
    let table = (try? String(contentsOfFile: "/proc/self/net/igmp", encoding: .utf8)) ?? ""
    for line in table.split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      if line.first?.isNumber == true { interface = UInt32(words[0]) ?? 0 }
      if words.first == "FB0000E0" { found.insert(interface) }
    }
    return found
  }

  @Test(.enabled(if: another != nil, "this machine has one interface only"))
  func `a question is asked, and answers are heard, on every interface`() throws {
    let interfaces = [Self.loopback, try #require(Self.another)]
    let loop = SocketLoop()
    let sockets = MulticastSocket.both(on: interfaces, loop: loop) { _, _ in }
    #expect(sockets.map(\.interfaces) == [interfaces.map(\.index)])
    #expect(Self.joined.isSuperset(of: interfaces.map(\.index)))
    for socket in sockets { socket.close() }
    withExtendedLifetime(loop) {}
  }

  @Test func `an interface that is not there is left out`() {
    let gone = InterfaceAddress(name: "gone", address: IPAddress("198.18.0.2")!, index: 99_999)
    let loop = SocketLoop()
    let sockets = MulticastSocket.both(on: [gone, Self.loopback], loop: loop) { _, _ in }
    #expect(sockets.map(\.interfaces) == [[1]])
    for socket in sockets { socket.close() }
    #expect(MulticastSocket.both(on: [gone], loop: loop) { _, _ in }.isEmpty)
    withExtendedLifetime(loop) {}
  }

  @Test func `a flood of messages keeps nobody else waiting`() throws {
    let loop = SocketLoop()
    let mark = Array(UUID().uuidString.utf8)
    var heard = 0
    let socket = try #require(
      MulticastSocket(isIPv6: false, loop: loop) { message, _ in if message.copied == mark { heard += 1 } })
    socket.join(on: 1)
    for _ in 0..<100 { socket.send(mark) }
    var most = 0
    let isHeard = loop.turn {
      let before = heard
      loop.turn()
      most = max(most, heard - before)
      return heard >= 100
    }
    #expect(isHeard && most <= MulticastSocket.batch)
    socket.close()
  }

  @Test(arguments: [
    ("198.18.1.9:5353", true), ("[fe80::9]:5353", true), ("198.18.1.9:40000", false), ("[2001:db8::9]:5353", false),
    ("[fe80::9]:40000", false),
  ])
  func `an answer is believed from the port of multicast DNS, and from the link, only`(source: String, isBelieved: Bool)
    throws
  {
    let loop = SocketLoop(addresses: { [] })
    let resolver = MulticastResolver(loop: loop)
    var found: [IPAddress] = []
    resolver.resolve(Self.name) { found.append($0) }
    let address = IPAddress("198.18.1.3")!
    let response = MulticastDNSMessage.response(Self.name, address, lifetime: 120)
    resolver.receive(response.span.bytes, from: try #require(Endpoint(source)))
    #expect(found == (isBelieved ? [address] : []))
    withExtendedLifetime(loop) {}
  }

  @Test func `a name is announced and asked for without this thread waiting for the list of interfaces`() {
    let thread = pthread_self()
    let askedHere = Mutex(false)
    let loop = SocketLoop(addresses: {
      if pthread_equal(pthread_self(), thread) != 0 { askedHere.withLock { $0 = true } }
      return [Self.loopback]
    })
    loop.announce(multicastName: Self.name, of: Self.loopback)
    var found: IPAddress?
    loop.resolve(multicastName: Self.name) { found = $0 }
    #expect(loop.turn { found != nil })
    #expect(found == Self.loopback.address)
    #expect(askedHere.withLock { !$0 })
    loop.withdraw(multicastName: Self.name)
  }
}
