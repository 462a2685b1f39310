internal import CallCore

/// Exchanges a host's packets with a program outside the simulation that uses the host's addresses.
///
/// Sockets and streams of the host inside the simulation keep working; the bridge receives every datagram that is for
/// none of them. It is called from the simulator's run loop and must hold the simulator `unowned`.
package protocol HostBridge: AnyObject {
  /// Handles a datagram. The bytes are lent for the duration of the call.
  func received(_ payload: RawSpan, _ header: PacketHeader)
}

extension Simulator {
  package func setBridge(_ bridge: (any HostBridge)?, of host: HostID) { hosts[host.index].bridge = bridge }

  /// Sends a datagram from outside on the host's interface that has its source address. Without such an interface it is
  /// dropped and traced.
  package func inject(_ payload: RawSpan, _ header: PacketHeader, from host: HostID) {
    send(payload, header, from: host)
  }
}
