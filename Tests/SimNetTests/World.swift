import CallCore

@testable import SimNet

/// A host that writes down what reaches it.
final class Recorder: HostDelegate {
  struct Arrival: Equatable {
    var time: Instant
    var bytes: [UInt8]
    var path: Path
  }

  unowned let simulator: Simulator
  var arrivals: [Arrival] = []
  var timers: [(time: Instant, token: UInt64)] = []
  var changes: [Instant] = []
  /// Sends every datagram back where it came from.
  var echoes = false
  var onTimer: ((UInt64) -> Void)?
  var cause: EventNumber = .none

  init(_ simulator: Simulator) { self.simulator = simulator }

  func interfacesChanged() { changes.append(simulator.now) }

  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {
    cause = simulator.trace.cause
    arrivals.append(Arrival(time: simulator.now, bytes: datagram.copied, path: path))
    if echoes { simulator.send(datagram, from: socket, to: path.remote) }
  }

  func timerFired(_ token: UInt64) {
    timers.append((simulator.now, token))
    onTimer?(token)
  }

  /// The first payload byte of each arrival, in order.
  var tags: [UInt8] { arrivals.compactMap(\.bytes.first) }
  /// Milliseconds of each arrival.
  var milliseconds: [Int64] { arrivals.map { ($0.time - .zero).milliseconds } }
}

/// Two hosts on one network, with everything of interest on `a`'s way out.
struct Pair {
  let simulator: Simulator
  let a: Recorder
  let b: Recorder
  let aHost: HostID
  let bHost: HostID
  let aSocket: UDPSocket
  let bSocket: UDPSocket

  init(
    seed: UInt64 = 1, prefix: String = "10.0.0.0/24", tx: LinkSettings = LinkSettings(),
    rx: LinkSettings = LinkSettings(), tracesPackets: Bool = true, recordsChannels: Bool = false
  ) throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: seed))
    simulator.tracesPackets = tracesPackets
    simulator.recordsChannels = recordsChannels
    let network = try simulator.addNetwork("lan", prefixes: [IPPrefix(prefix)!])
    (a, b) = (Recorder(simulator), Recorder(simulator))
    aHost = try simulator.addHost("a", delegate: a)
    bHost = try simulator.addHost("b", delegate: b)
    try simulator.attach(aHost, to: network, link: "a", tx: tx, rx: rx)
    try simulator.attach(bHost, to: network, link: "b")
    aSocket = try simulator.bind(aHost, port: 1_000)
    bSocket = try simulator.bind(bHost, port: 2_000)
    self.simulator = simulator
  }

  var bEndpoint: Endpoint { Endpoint(simulator.interfaces(of: bHost)[0].addresses[0], port: 2_000) }
  var aEndpoint: Endpoint { Endpoint(simulator.interfaces(of: aHost)[0].addresses[0], port: 1_000) }

  /// Sends from `a` to `b` now: one byte of `tag` and as many zeros as fill `size`.
  func send(_ tag: UInt8 = 0, size: Int = 100) {
    var bytes = [UInt8](repeating: 0, count: size)
    if size > 0 { bytes[0] = tag }
    simulator.send(bytes.span.bytes, from: aSocket, to: bEndpoint)
  }

  /// Sends `count` packets `spacing` apart and lets the network run dry.
  func stream(_ count: Int, spacing: Interval, size: Int = 100) {
    for index in 0..<count {
      send(UInt8(truncatingIfNeeded: index), size: size)
      simulator.run(until: simulator.now + spacing)
    }
    while simulator.step() {}
  }
}

extension Simulator {
  func send(_ bytes: [UInt8], from socket: UDPSocket, to endpoint: Endpoint) {
    send(bytes.span.bytes, from: socket, to: endpoint)
  }
}

/// Collects the reasons of dropped packets, in order.
final class Drops {
  var reasons: [String] = []
  var subjects: [String] = []

  init(_ trace: Trace) {
    trace.listen(to: NetworkEvents.packetDropped) { [self, unowned trace] record, reason, _, _, _, _ in
      reasons.append(reason)
      subjects.append(trace.name(of: record.subject))
    }
  }
}
