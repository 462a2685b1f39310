package import CallCore
package import STUN

/// A STUN server as a host of the world.
package final class STUNServerHost: SocketServerHost<STUNBindingServer> {
  package static let port: UInt16 = 3_478

  package init(
    runtime: HostRuntime, port: UInt16 = STUNServerHost.port, transports: Set<Path.Transport> = [.udp],
    delay: Interval = .zero
  ) {
    super.init(
      machine: STUNBindingServer(), runtime: runtime, port: port, transports: transports, delay: delay)
  }
}
