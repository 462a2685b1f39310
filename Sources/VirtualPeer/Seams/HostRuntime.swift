package import CallCore
package import SimNet

/// The runtime of one simulated host: its clock and its network, driven by the simulator.
package final class HostRuntime: HostDelegate {
  package let clock: PeerClock
  package let network: PeerNetwork
  package var onInterfacesChanged: (() -> Void)?

  package init(simulator: Simulator, host: HostID, wallClock: WallClock) {
    clock = PeerClock(simulator: simulator, host: host, wallClock: wallClock)
    network = PeerNetwork(simulator: simulator, host: host)
    simulator.setDelegate(self, of: host)
    network.onUnreachable = { [unowned self] in
      clock.schedule(after: .zero) { [unowned self] in network.closeUnreachable() }
    }
  }

  package func interfacesChanged() { onInterfacesChanged?() }

  package func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {
    network.received(datagram, on: socket, path: path)
  }

  package func timerFired(_ token: UInt64) { clock.fire(token) }

  package func accepted(_ stream: StreamID, path: Path) { network.accepted(stream, path: path) }

  package func streamEvent(_ event: StreamEvent, on stream: StreamID) { network.streamEvent(event, on: stream) }
}
