internal import CallCore
internal import DTLS
internal import PeerSession
internal import SDP
internal import SimNet

/// The environment of a call session on a virtual device: simulated sockets and streams, virtual time, the trace.
final class SimulatedSessionHost: SessionEnvironment {
  private let environment: ConnectionEnvironment
  /// The trace subject of the connection.
  private let subject: String
  private let network: PeerNetwork
  private let clock: PeerClock
  /// The connection that the events belong to.
  weak var connection: SessionConnection?
  var onWake: () -> Void = {}
  private var events: ConnectionEvents
  /// The packets for other connections.
  private var received = FIFO<ForwardedPacket>()
  private var timer: PeerTimer?
  private var timerDeadline = Instant.zero

  init(_ environment: ConnectionEnvironment, subject: String) {
    self.environment = environment
    self.subject = subject
    network = environment.network
    clock = environment.clock
    events = environment.makeEvents(of: subject)
  }

  var now: Instant { clock.now }
  var wallClock: WallClock { clock.wallClock }

  /// Writes the state changes of closing the connection.
  func close() { events.close() }

  // MARK: Network

  /// The addresses on which sockets can be opened now.
  var addresses: [DeviceAddress] {
    network.activeInterfaces.flatMap { interface in
      interface.addresses.filter { !$0.isLoopback }.map {
        DeviceAddress($0, name: interface.name, networkType: interface.type.rawValue)
      }
    }
  }

  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: UDPSocket, local: Endpoint)? {
    guard let socket = network.openDatagramSocket(address: address, receive) else { return nil }
    return (socket, Endpoint(address, port: network.simulator.localEndpoint(of: socket).port))
  }

  func close(_ socket: UDPSocket) { network.close(socket) }

  func send(_ datagram: RawSpan, from socket: UDPSocket, on path: Path) {
    guard !network.isProcessGone else { return }
    network.simulator.send(datagram, from: socket, to: path.remote, ecn: path.ecn)
  }

  func openStream(on path: Path) -> (any ByteStream)? {
    if path.transport == .tls { environment.tlsConnectionCount += 1 }
    let stream = SimulatedByteStream(network.connect(from: path.local.address, to: path.remote), isConnected: false)
    stream.onLateData = { [weak environment, subject] in environment?.traceLateData(from: path.remote, of: subject) }
    return stream
  }

  // MARK: Events

  func happened(_ event: SessionEvent) { events.append(event) }

  func rendered(_ frame: RenderedVideoFrame) { connection?.show(frame) }

  func received(_ packet: ForwardedPacket) { received.append(packet) }

  func keyFrameNeeded(of sender: Transceiver.ID, encoding: Int) {
    if let connection { environment.forwarding?.requestKeyFrame(for: connection, sender, encoding: encoding) }
  }

  func observed(_ observation: SessionObservation) {
    // A reader needs the secrets before the packets that they decrypt.
    if case .keyLog(let line) = observation { environment.learn(keyLog: line) } else { events.append(observation) }
  }

  func unsent(_ reason: UnsentReason) { environment.traceUnsent(reason.rawValue, of: subject) }

  func secured(_ tls: TLSConnection, with server: Endpoint) {
    environment.tlsTrace(of: subject).established(tls, with: server)
  }

  func refused(_ failure: TLSFailure, by server: Endpoint) {
    environment.tlsTrace(of: subject).failed(failure, with: server)
  }

  func settled(_ wake: Wake) {
    schedule(wake)
    if !events.isEmpty, let connection { events.deliver(from: connection) }
    while let packet = received.popFirst() {
      connection?.received(packet)
    }
  }

  func fellSilent() { if let connection { environment.release(connection) } }

  /// Schedules a timer for the session's deadline. An earlier timer is kept: deadlines move back with every packet, and
  /// an early call of the session costs less than a new timer for each.
  private func schedule(_ wake: Wake) {
    guard let deadline = wake.deadline else {
      timer?.cancel()
      timer = nil
      return
    }
    guard timer == nil || deadline < timerDeadline else { return }
    timer?.cancel()
    timerDeadline = deadline
    timer = clock.schedule(at: deadline) { [unowned self] in
      timer = nil
      onWake()
    }
  }
}
