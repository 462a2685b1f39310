internal import CallCore

/// What a host's packets go through to a program outside the simulation, which has the host's addresses as its own.
///
/// What runs on the host inside the simulation keeps its sockets and streams; the bridge gets every datagram that none
/// of them is for. It is called from the simulator's run loop and must hold the simulator `unowned`.
package protocol HostBridge: AnyObject {
  /// A datagram arrived. The bytes are lent for the duration of the call.
  func received(_ payload: RawSpan, _ header: PacketHeader)
}

extension Simulator {
  package func setBridge(_ bridge: (any HostBridge)?, of host: HostID) { hosts[host.index].bridge = bridge }

  /// Puts a datagram that comes from outside on the wire of the host's interface that has its source address; without
  /// such an interface it is dropped, and the trace says so.
  package func inject(_ payload: RawSpan, _ header: PacketHeader, from host: HostID) {
    send(payload, header, from: host)
  }
}
