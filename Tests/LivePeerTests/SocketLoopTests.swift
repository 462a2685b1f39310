import CallCore
import Foundation
import PeerSession
import Synchronization
import Testing

@testable import LivePeer

@Suite struct SocketLoopTests {
  private static let loopback = InterfaceAddress(name: "lo", address: IPAddress(v4: 0x7F00_0001), index: 1)
  private static let loopback6 = InterfaceAddress(name: "lo", address: IPAddress(v6: 0, 1), index: 1)

  @Test func `timers fire in the order of their deadlines, each once`() {
    let loop = SocketLoop()
    var fired: [Int] = []
    let late = loop.makeTimer { fired.append(2) }
    let early = loop.makeTimer { fired.append(1) }
    let unset = loop.makeTimer { fired.append(3) }
    let now = loop.now
    late.deadline = now + .milliseconds(4)
    early.deadline = now + .milliseconds(2)
    while late.deadline != nil { loop.turn() }
    #expect(fired == [1, 2])
    #expect(unset.deadline == nil)
  }

  @Test func `a timer may remove itself and others while it fires`() {
    let loop = SocketLoop()
    var fired = 0
    var timers: [LoopTimer] = []
    for _ in 0..<3 {
      timers.append(
        loop.makeTimer {
          fired += 1
          for timer in timers { loop.remove(timer) }
        })
    }
    for timer in timers { timer.deadline = .zero }
    loop.turn()
    #expect(fired == 1)
    // They hold the list that they are in.
    timers = []
  }

  @Test func `another thread's job wakes the loop`() {
    let loop = SocketLoop()
    nonisolated(unsafe) let shared = loop
    let inbox = SendableLoop(loop)
    // Not a task: every thread that could run it may be blocked, as this one is.
    Thread.detachNewThread { inbox.enqueue { shared.stop() } }
    loop.run()
  }

  @Test(arguments: [loopback, loopback6])
  func `a datagram arrives with its sender, its bytes and its ECN mark`(address: InterfaceAddress) throws {
    let loop = SocketLoop()
    var arrived: [(bytes: [UInt8], path: Path)] = []
    let receiver = try loop.openSocket(on: address, ports: 0...0) { arrived.append(($0.copied, $1)) }
    let sender = try loop.openSocket(on: address, ports: 0...0) { _, _ in }
    let bytes: [UInt8] = [1, 2, 3]
    sender.send(bytes.span.bytes, to: receiver.local, ecn: .ect1)
    #expect(loop.turn { !arrived.isEmpty })
    let first = try #require(arrived.first)
    #expect(first.bytes == bytes)
    #expect(first.path == Path(local: receiver.local, remote: sender.local, ecn: .ect1))
    receiver.close()
    sender.close()
  }

  @Test func `ports come from the range, and a taken one is passed over`() throws {
    let loop = SocketLoop()
    let first = try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in }
    let port = min(first.local.port, 65_534)
    let second = try loop.openSocket(on: Self.loopback, ports: port...65_535) { _, _ in }
    #expect(second.local.port > first.local.port)
    #expect(throws: SystemError.self) {
      _ = try loop.openSocket(on: Self.loopback, ports: first.local.port...first.local.port) { _, _ in }
    }
    first.close()
    second.close()
  }

  @Test func `a connection that is refused ends, and not from within the call that opened it`() throws {
    let loop = SocketLoop()
    let taken = try loop.openSocket(on: Self.loopback, ports: 0...0) { _, _ in }
    let stream = loop.openStream(from: Self.loopback, to: Endpoint(Self.loopback.address, port: taken.local.port))
    var hasEnded = false
    stream.onEnd = { hasEnded = true }
    #expect(!hasEnded)
    #expect(loop.turn { hasEnded })
    taken.close()
  }
}
