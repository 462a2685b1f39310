import CallCore
import SimNet
import Testing

@testable import VirtualPeer

@Suite struct SuspensionTests {
  private final class Drops: TraceObserver {
    var reasons: [String] = []

    func observe(_ record: TraceRecord, in trace: Trace) {
      guard trace.name(of: record.kind) == "packet.dropped" else { return }
      reasons.append(trace.fields(of: record).first?.value.description ?? "")
    }
  }

  private final class World {
    let simulator: Simulator
    let drops = Drops()
    let host: HostRuntime
    let other: HostRuntime
    let address: IPAddress

    init() throws {
      let trace = Trace()
      trace.add(drops)
      let simulator = Simulator(trace: trace, random: RandomSource(seed: 1))
      self.simulator = simulator
      let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("10.0.0.0/24")!])
      func add(_ name: String) throws -> HostID {
        let host = try simulator.addHost(name)
        try simulator.attach(host, to: network, link: name, type: .wifi, tx: LinkSettings(), rx: LinkSettings())
        return host
      }
      let (first, second) = (try add("first"), try add("second"))
      address = simulator.interfaces(of: first)[0].addresses[0]
      host = HostRuntime(simulator: simulator, host: first, wallClock: WallClock())
      other = HostRuntime(simulator: simulator, host: second, wallClock: WallClock())
    }

    func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }
  }

  @Test func `timers that were due meanwhile come in their order when the host goes on`() throws {
    let world = try World()
    var fired: [(Int, Interval)] = []
    for number in 1...3 {
      world.host.clock.schedule(after: .seconds(Int64(number))) { fired.append((number, world.host.clock.now - .zero)) }
    }
    world.host.suspend()
    world.run(for: .seconds(2) + .milliseconds(500))
    #expect(fired.isEmpty)
    world.host.resume()
    world.run(for: .seconds(2))
    #expect(fired.map(\.0) == [1, 2, 3])
    #expect(fired.map(\.1) == [.milliseconds(2_500), .milliseconds(2_500), .seconds(3)])
  }

  @Test func `a timer that is cancelled when the host goes on does not come`() throws {
    let world = try World()
    var fired: [Int] = []
    let second = world.host.clock.schedule(after: .seconds(2)) { fired.append(2) }
    world.host.clock.schedule(after: .seconds(1)) {
      fired.append(1)
      second.cancel()
    }
    world.host.suspend()
    world.run(for: .seconds(3))
    world.host.resume()
    world.run(for: .seconds(1))
    #expect(fired == [1])
  }

  @Test func `datagrams to a suspended host are dropped, and later ones are not`() throws {
    let world = try World()
    var count = 0
    let socket = try #require(world.host.network.openDatagramSocket(address: world.address) { _, _ in count += 1 })
    let target = world.simulator.localEndpoint(of: socket)
    let sender = try #require(world.other.network.openDatagramSocket(address: nil) { _, _ in })
    func send() {
      world.simulator.send([1, 2, 3].span.bytes, from: sender, to: target)
      world.run(for: .seconds(1))
    }
    world.host.suspend()
    send()
    world.host.resume()
    send()
    #expect(count == 1)
    #expect(world.drops.reasons == ["suspended"])
  }

  @Test func `a stream stays up, and what came on it is read when the host goes on`() throws {
    let world = try World()
    var texts: [[UInt8]] = []
    world.host.network.listen(on: 443) { stream in
      stream.onEvent = { if case .received(let bytes) = $0 { texts.append(bytes) } }
    }
    let stream = world.other.network.connect(to: Endpoint(world.address, port: 443))
    world.run(for: .seconds(1))
    world.host.suspend()
    stream.send([1])
    world.run(for: .seconds(1))
    stream.send([2])
    world.run(for: .seconds(60))
    #expect(texts.isEmpty && stream.queuedByteCount == 0)
    world.host.resume()
    world.run(for: .seconds(1))
    #expect(texts.flatMap(\.self) == [1, 2])
  }
}
