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
  private var pump: StreamPump?
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
    pump = StreamPump(load.size, into: stream, clock)
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
