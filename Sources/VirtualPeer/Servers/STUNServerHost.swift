package import CallCore
package import STUN

/// A STUN server on a simulated host.
package final class STUNServerHost: SocketServerHost<STUNBindingServer> {
  package static let port: UInt16 = 3_478

  package init(
    runtime: HostRuntime, listeners: [ServerListener] = [ServerListener(.udp, port: STUNServerHost.port)],
    delay: Interval = .zero
  ) {
    super.init(machine: STUNBindingServer(), runtime: runtime, listeners: listeners, delay: delay)
  }
}
