internal import CallCore
internal import PeerSession
internal import SDP

/// The connections of a server that forwards, and which of them send what another one receives.
final class ForwardingTable {
  private struct Origin: Hashable {
    let connection: Int
    let transceiver: Transceiver.ID
  }

  private struct Weak { weak var connection: SessionConnection? }

  private struct Destination {
    weak var connection: SessionConnection?
    let sender: Transceiver.ID
  }

  private let clock: PeerClock
  private var count = 0
  /// The connections that are not closed, by their numbers.
  private var connections: [Int: Weak] = [:]
  private var destinations: [Origin: [Destination]] = [:]
  /// An encoding whose sender is to be asked for a key frame.
  private struct Request: Hashable {
    let origin: Origin
    let encoding: Int
  }

  /// What is to be asked for in the next event.
  private var requested: [Request] = []

  init(clock: PeerClock) { self.clock = clock }

  /// Adds a connection until it is closed, and returns its number.
  func add(_ connection: SessionConnection) -> Int {
    count += 1
    connections[count] = Weak(connection: connection)
    return count
  }

  func remove(_ connection: SessionConnection) {
    forget(connection)
    connections[connection.number] = nil
    for origin in destinations.keys.filter({ $0.connection == connection.number }) { destinations[origin] = nil }
  }

  /// Reads what a connection sends now.
  func update(_ connection: SessionConnection) {
    forget(connection)
    for transceiver in connection.transceivers {
      guard case .received(let number, let received)? = transceiver.sender.track?.source else { continue }
      destinations[Origin(connection: number, transceiver: received), default: []].append(
        Destination(connection: connection, sender: transceiver.id))
    }
  }

  private func forget(_ connection: SessionConnection) {
    for origin in destinations.keys {
      destinations[origin]?.removeAll { $0.connection == nil || $0.connection === connection }
      if destinations[origin]?.isEmpty == true { destinations[origin] = nil }
    }
  }

  /// Gives a packet to every connection that sends it on.
  func forward(_ packet: ForwardedPacket, from connection: SessionConnection) {
    let origin = Origin(connection: connection.number, transceiver: packet.transceiver)
    for destination in destinations[origin] ?? [] {
      destination.connection?.forward(packet, to: destination.sender)
    }
  }

  /// Asks the source of a forwarded track for a key frame, in an event of its own: the connection that asks is at work.
  func requestKeyFrame(for connection: SessionConnection, _ sender: Transceiver.ID, encoding: Int) {
    let origin = destinations.first { entry in
      entry.value.contains { $0.connection === connection && $0.sender == sender }
    }?.key
    guard let origin else { return }
    let request = Request(origin: origin, encoding: encoding)
    guard !requested.contains(request) else { return }
    requested.append(request)
    clock.schedule(after: .zero) { [self] in
      requested.removeAll { $0 == request }
      connections[origin.connection]?.connection?.requestKeyFrame(of: origin.transceiver, encoding: encoding)
    }
  }

  /// Returns where a packet that a connection forwards comes from.
  func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    for (_, connection) in connections.sorted(by: { $0.key < $1.key }) {
      if let origin = connection.connection?.origin(of: ssrc, timestamp: timestamp) { return origin }
    }
    return nil
  }
}
