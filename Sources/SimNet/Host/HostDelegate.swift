public import CallCore

/// What runs on a simulated host: a peer's call stack, a server, a scenario's own driver.
///
/// Every call comes from the simulator's run loop, with ``Trace/cause`` set; the delegate may call the simulator from
/// within. It must hold the simulator `unowned`: the simulator keeps its delegates alive.
public protocol HostDelegate: AnyObject {
  /// An interface of the host went up or down, or changed its network or addresses.
  func interfacesChanged()

  /// A datagram arrived; `path.local` is the address it was sent to. The bytes are lent for the duration of the call.
  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path)

  /// A timer is due. It is gone; schedule another to go on.
  func timerFired(_ token: UInt64)

  /// A peer connected to a port the host listens on.
  func accepted(_ stream: StreamID, path: Path)

  /// Something happened on a stream the host opened or accepted.
  func streamEvent(_ event: StreamEvent, on stream: StreamID)
}

/// A host without streams ignores them.
extension HostDelegate {
  public func accepted(_ stream: StreamID, path: Path) {}
  public func streamEvent(_ event: StreamEvent, on stream: StreamID) {}
}
