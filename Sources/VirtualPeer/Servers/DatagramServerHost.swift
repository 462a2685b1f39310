package import CallCore
internal import SimNet

/// Runs a sans-IO server on a host: one socket at its port, its timers, and whether it answers at all.
package class DatagramServerHost<Machine: SansIO & ~Copyable> {
  let runtime: HostRuntime
  var machine: Machine
  /// While true nothing is heard and nothing is said (`stun.silent`).
  package var isSilent = false
  /// How long every datagram waits before it leaves.
  private let delay: Interval
  private let port: UInt16
  private(set) var sockets: [(endpoint: Endpoint, socket: UDPSocket)] = []
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private var timer: PeerTimer?

  init(machine: consuming Machine, runtime: HostRuntime, port: UInt16, delay: Interval) {
    self.machine = machine
    self.runtime = runtime
    self.port = port
    self.delay = delay
  }

  deinit { buffer.deallocate() }

  /// The host's addresses at the server's port.
  package var endpoints: [Endpoint] {
    runtime.network.activeInterfaces.flatMap(\.addresses).map { Endpoint($0, port: port) }
  }

  /// Begins to listen on every address.
  package func start() {
    for endpoint in endpoints { open(endpoint) }
  }

  @discardableResult
  func open(_ endpoint: Endpoint) -> Bool {
    let socket = runtime.network.openDatagramSocket(address: endpoint.address, port: endpoint.port) {
      [unowned self] datagram, path in
      guard !isSilent else { return }
      machine.receive(datagram, on: path, at: runtime.clock.now)
      drain()
    }
    guard let socket else { return false }
    sockets.append((endpoint, socket))
    return true
  }

  func close(_ endpoint: Endpoint) {
    for (known, socket) in sockets where known == endpoint { runtime.network.close(socket) }
    sockets.removeAll { $0.endpoint == endpoint }
  }

  package func shutDown() {
    timer?.cancel()
    timer = nil
    for (_, socket) in sockets { runtime.network.close(socket) }
    sockets = []
  }

  /// What the server asks of its host.
  func handle(_ event: Machine.Event) {}

  func drain() {
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    var events: [Machine.Event] = []
    let wake = pump(
      &machine, buffer: &output, send: { datagram, path in send(datagram, path) }, event: { events.append($0) })
    _ = output.finalize(for: buffer)
    timer?.cancel()
    timer = wake.deadline.map { deadline in
      runtime.clock.schedule(at: deadline) { [unowned self] in
        timer = nil
        machine.advance(to: runtime.clock.now)
        drain()
      }
    }
    guard !events.isEmpty else { return }
    for event in events { handle(event) }
    drain()
  }

  private func send(_ datagram: RawSpan, _ path: Path) {
    guard !isSilent, let socket = sockets.first(where: { $0.endpoint == path.local })?.socket else { return }
    guard delay > .zero else {
      return runtime.network.simulator.send(datagram, from: socket, to: path.remote, ecn: path.ecn)
    }
    let bytes = datagram.copied
    runtime.clock.schedule(after: delay) { [unowned self] in
      runtime.network.simulator.send(bytes.span.bytes, from: socket, to: path.remote, ecn: path.ecn)
    }
  }
}
