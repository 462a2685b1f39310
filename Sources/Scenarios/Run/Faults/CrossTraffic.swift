internal import CallCore
internal import ScenarioFormat
internal import SimNet
internal import VirtualPeer

/// What other apps of a device load or send while it calls: real TCP connections with a server, which share its links.
final class CrossTraffic {
  struct Load {
    /// As the link of the device sees it: `tx` sends, `rx` loads.
    let direction: Fault.Direction
    /// The number of connections at a time.
    let flows: Int
    /// The bytes of each connection; nil without end.
    let size: Int?
    /// The mean of the exponential pauses between a connection and the next; nil without pauses.
    let pause: Interval?
  }

  private let flows: [Flow]

  init(_ load: Load, of device: HostRuntime, with server: TrafficServer, random: RandomSource) {
    flows = (0..<load.flows).map { number in
      Flow(load, of: device, with: server, random: random.stream("flow-\(number)"))
    }
  }

  func start() { for flow in flows { flow.begin() } }

  /// Resets what is open.
  func stop() { for flow in flows { flow.stop() } }

  /// Whether any byte has arrived.
  var hasArrived: Bool { flows.contains(where: \.hasArrived) }
}

/// One connection after the other.
private final class Flow {
  private let load: CrossTraffic.Load
  private let network: PeerNetwork
  private let clock: PeerClock
  private let server: TrafficServer
  private var random: RandomStream
  private var stream: PeerStream?
  private var pump: Pump?
  private var timer: PeerTimer?
  private var received = 0
  private var hasReceived = false
  private var isStopped = false

  /// The time after which a connection that failed is tried again.
  private static let retry = Interval.seconds(1)

  init(_ load: CrossTraffic.Load, of device: HostRuntime, with server: TrafficServer, random: consuming RandomStream) {
    (self.load, network, clock, self.server) = (load, device.otherApps, device.system, server)
    self.random = random
  }

  /// Whether any byte has arrived.
  var hasArrived: Bool { hasReceived || pump?.hasDelivered ?? false }

  func begin() {
    guard let endpoint = server.endpoint(for: network) else { return next(after: Self.retry) }
    received = 0
    let stream = network.connect(to: endpoint)
    self.stream = stream
    stream.onEvent = { [weak self] in self?.happened($0) }
  }

  private func happened(_ event: PeerStream.Event) {
    switch event {
    case .connected: request()
    case .received(let bytes):
      received += bytes.count
      hasReceived = true
    case .closed(let reason):
      pump?.stop()
      let isComplete = reason == .normal && (pump?.isDone ?? (received == load.size))
      if isComplete { hasReceived = true }
      (stream, pump) = (nil, nil)
      next(after: isComplete ? pause() : Self.retry)
    }
  }

  private func request() {
    guard let stream else { return }
    let isLoading = load.direction == .receive
    stream.send(Array(TrafficServer.Request(isLoading: isLoading, size: load.size).text.utf8))
    guard !isLoading else { return }
    pump = Pump(load.size, into: stream, clock)
    pump?.run()
  }

  private func pause() -> Interval {
    load.pause.map { random.exponential(mean: $0) } ?? .zero
  }

  private func next(after delay: Interval) {
    guard !isStopped else { return }
    timer = clock.schedule(after: delay) { [weak self] in self?.begin() }
  }

  func stop() {
    hasReceived = hasArrived
    isStopped = true
    timer?.cancel()
    pump?.stop()
    stream?.abort()
    (stream, pump) = (nil, nil)
  }
}

/// Keeps a connection supplied with bytes.
private final class Pump {
  private weak var stream: PeerStream?
  private let clock: PeerClock
  /// The bytes to send; nil without end.
  private var left: Int?
  private var sent = 0
  private var timer: PeerTimer?
  /// Called when all is handed over.
  private let onDone: () -> Void

  /// The bytes that wait in a connection: more than its window.
  private static let depth = 131_072
  private static let chunk = [UInt8](repeating: 0, count: 16_384)
  private static let period = Interval.milliseconds(10)

  init(_ size: Int?, into stream: PeerStream, _ clock: PeerClock, onDone: @escaping () -> Void = {}) {
    (left, self.stream, self.clock, self.onDone) = (size, stream, clock, onDone)
  }

  var isDone: Bool { left == 0 }
  /// Whether the other end has acknowledged any.
  var hasDelivered: Bool { stream.map { $0.queuedByteCount < sent } ?? false }

  func run() {
    guard let stream else { return }
    for _ in 0..<Self.depth / Self.chunk.count where stream.queuedByteCount < Self.depth {
      let count = min(left ?? .max, Self.chunk.count)
      guard count > 0 else { return onDone() }
      stream.send(Array(Self.chunk.prefix(count)))
      sent += count
      left = left.map { $0 - count }
    }
    timer = clock.schedule(after: Self.period) { [weak self] in self?.run() }
  }

  func stop() { timer?.cancel() }
}

/// The server on the internet with which other apps of devices exchange bytes.
final class TrafficServer {
  /// The first line of a connection.
  struct Request {
    var isLoading: Bool
    /// The bytes to load or send; nil without end.
    var size: Int?

    init(isLoading: Bool, size: Int?) { (self.isLoading, self.size) = (isLoading, size) }

    init?(_ line: some StringProtocol) {
      let words = line.split(separator: " ")
      guard words.count == 2, ["GET", "PUT"].contains(words[0]) else { return nil }
      (isLoading, size) = (words[0] == "GET", Int(words[1]))
    }

    var text: String { "\(isLoading ? "GET" : "PUT") \(size.map { "\($0)" } ?? "*")\n" }
  }

  private static let port: UInt16 = 80

  private let runtime: HostRuntime
  private let addresses: [IPAddress]

  init(_ runtime: HostRuntime) {
    self.runtime = runtime
    addresses = runtime.network.activeInterfaces.flatMap(\.addresses)
    runtime.network.listen(on: Self.port) { [clock = runtime.clock] in Self.serve($0, clock) }
  }

  /// Returns where a host reaches the server; nil while it has no address of a family of the server's.
  func endpoint(for network: PeerNetwork) -> Endpoint? {
    let own = network.activeInterfaces.flatMap(\.addresses)
    let address = addresses.first { address in own.contains { $0.isIPv6 == address.isIPv6 } }
    return address.map { Endpoint($0, port: Self.port) }
  }

  /// Serves one connection: what it holds ends with it.
  private static func serve(_ stream: PeerStream, _ clock: PeerClock) {
    var (line, request, received) = ([UInt8](), Request?.none, 0)
    var pump: Pump?
    stream.onEvent = { [unowned stream] event in
      switch event {
      case .connected: break
      case .received(let bytes):
        var bytes = bytes[...]
        if request == nil {
          let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
          line += bytes[..<(end ?? bytes.endIndex)]
          guard let end else { return }
          bytes = bytes[(end + 1)...]
          request = Request(String(decoding: line, as: UTF8.self))
          guard let request else { return stream.abort() }
          if request.isLoading {
            pump = Pump(request.size, into: stream, clock) { [unowned stream] in stream.close() }
            pump?.run()
          }
        }
        received += bytes.count
        if let request, !request.isLoading, received == request.size { stream.close() }
      case .closed:
        pump?.stop()
        pump = nil
      }
    }
  }
}
