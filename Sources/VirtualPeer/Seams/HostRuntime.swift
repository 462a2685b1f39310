package import CallCore
package import SimNet

/// The runtime of one simulated host: its clock and its network, driven by the simulator.
package final class HostRuntime: HostDelegate {
  package let clock: PeerClock
  /// The clock of the device's system, which goes on while the app is suspended or not running.
  package let system: PeerClock
  package let network: PeerNetwork
  /// What other apps of the device have open, which go on while this one is suspended or not running.
  package var otherApps: PeerNetwork { madeOtherApps ?? makeOtherApps() }
  private var madeOtherApps: PeerNetwork?
  package var onInterfacesChanged: (() -> Void)?
  private unowned let simulator: Simulator
  private let host: HostID
  /// What happened while the host was suspended, in order; nil while it runs.
  private var held: [() -> Void]?

  package init(simulator: Simulator, host: HostID, wallClock: WallClock) {
    self.simulator = simulator
    self.host = host
    clock = PeerClock(simulator: simulator, host: host, wallClock: wallClock)
    system = PeerClock(simulator: simulator, host: host, wallClock: wallClock, isOfSystem: true)
    network = PeerNetwork(simulator: simulator, host: host)
    simulator.setDelegate(self, of: host)
    network.onUnreachable = { [unowned self] in
      clock.schedule(after: .zero) { [unowned self] in network.closeUnreachable() }
    }
  }

  private func makeOtherApps() -> PeerNetwork {
    let apps = PeerNetwork(simulator: simulator, host: host)
    apps.onUnreachable = { [unowned self, unowned apps] in
      system.schedule(after: .zero) { [unowned apps] in apps.closeUnreachable() }
    }
    madeOtherApps = apps
    return apps
  }

  // MARK: Suspension

  /// Whether nothing runs on the host: timers, streams and changes of interfaces wait, and datagrams are lost.
  package var isSuspended: Bool { held != nil }

  package func suspend() {
    guard held == nil else { return }
    held = []
    simulator.setSuspended(host, true)
  }

  /// Goes on: what waited comes now, each in an event of its own.
  package func resume() {
    guard let waiting = held else { return }
    held = nil
    simulator.setSuspended(host, false)
    for event in waiting { clock.schedule(after: .zero, event) }
  }

  // MARK: The end of a process

  /// Ends the app's process: what waited for it is lost, its sockets are closed as its kernel closes them, and no timer
  /// of it comes any more. `release` closes what the process held, without a word on the network.
  package func endProcess(_ release: () -> Void) {
    if isSuspended {
      held = nil
      simulator.setSuspended(host, false)
    }
    network.endProcess(release)
    clock.cancelAll()
  }

  // MARK: HostDelegate

  package func interfacesChanged() {
    if isSuspended { held?.append { [unowned self] in onInterfacesChanged?() } } else { onInterfacesChanged?() }
  }

  package func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {
    network.received(datagram, on: socket, path: path)
  }

  package func timerFired(_ token: UInt64) {
    if PeerClock.isOfSystem(token) { return system.fire(token) }
    guard isSuspended else { return clock.fire(token) }
    held?.append { [clock] in clock.fire(token) }
  }

  package func accepted(_ stream: StreamID, path: Path) {
    guard isSuspended else { return network.accepted(stream, path: path) }
    held?.append { [network] in network.accepted(stream, path: path) }
  }

  package func streamEvent(_ event: StreamEvent, on stream: StreamID) {
    if let madeOtherApps, madeOtherApps.owns(stream) { return madeOtherApps.streamEvent(event, on: stream) }
    guard isSuspended else { return network.streamEvent(event, on: stream) }
    held?.append { [network] in network.streamEvent(event, on: stream) }
  }
}
