import CallCore
import SimNet

/// Flows of 50 datagrams a second each, from behind a NAT over two shaped links that lose in bursts, to a server.
///
/// - Returns: datagrams sent per second: each is a timer, three links, a translation and a socket.
func packetsThroughNAT(flows: Int, packets: Int) -> Double {
  do {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    simulator.tracesPackets = false
    var shaped = LinkSettings(rate: .megabitsPerSecond(2_000), delay: .milliseconds(20))
    shaped.jitter = .uniform(.milliseconds(2))
    shaped.loss = .gilbertElliott(GilbertElliott(meanLoss: 0.01, meanBurst: .milliseconds(30)))

    let internet = try simulator.addNetwork("internet", prefixes: [IPPrefix("203.0.113.0/24")!])
    let home = try simulator.addNetwork(
      "home", prefixes: [IPPrefix("192.168.1.0/24")!], parent: "internet", tx: shaped, rx: shaped,
      nat: NATConfiguration())
    let server = try simulator.addHost("server")
    let address = IPAddress("203.0.113.9")!
    try simulator.attach(server, to: internet, link: "server", addresses: [address], tx: shaped, rx: shaped)
    let counter = Counter()
    simulator.setDelegate(counter, of: server)
    _ = try simulator.bind(server, port: 9)

    let client = try simulator.addHost("client")
    try simulator.attach(client, to: home, link: "client")
    let sender = Sender(simulator: simulator, host: client, destination: Endpoint(address, port: 9))
    simulator.setDelegate(sender, of: client)
    for _ in 0..<flows { sender.sockets.append(try simulator.bind(client)) }
    sender.start()

    simulator.run(until: .zero + .milliseconds(100))
    let begin = sender.sent
    let seconds = cost { while sender.sent < begin + packets { simulator.step() } }
    precondition(Double(counter.received) > 0.9 * Double(sender.sent) - Double(flows * 5), "the packets do not arrive")
    return Double(sender.sent - begin) / seconds
  } catch {
    preconditionFailure("\(error)")
  }
}

private final class Sender: HostDelegate {
  var sockets: [UDPSocket] = []
  private(set) var sent = 0

  private unowned let simulator: Simulator
  private let host: HostID
  private let destination: Endpoint
  private let payload = [UInt8](repeating: 0, count: 160)

  init(simulator: Simulator, host: HostID, destination: Endpoint) {
    self.simulator = simulator
    self.host = host
    self.destination = destination
  }

  func start() {
    for flow in sockets.indices {
      let phase = Interval(nanoseconds: Int64(flow) * 20_000_000 / Int64(sockets.count))
      _ = simulator.schedule(host, at: .zero + phase, token: UInt64(flow))
    }
  }

  func timerFired(_ token: UInt64) {
    let payload = payload
    simulator.send(payload.span.bytes, from: sockets[Int(token)], to: destination)
    sent += 1
    _ = simulator.schedule(host, at: simulator.now + .milliseconds(20), token: token)
  }

  func interfacesChanged() {}
  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {}
}

private final class Counter: HostDelegate {
  private(set) var received = 0

  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) { received += 1 }
  func interfacesChanged() {}
  func timerFired(_ token: UInt64) {}
}
