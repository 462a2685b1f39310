public import CallCore

/// The software of a simulated host: a peer's call stack, a server, a scenario's own driver.
///
/// Every call comes from the simulator's run loop, with ``Trace/cause`` set; the delegate may call the simulator from
/// within. It must hold the simulator `unowned`: the simulator keeps its delegates alive.
public protocol HostDelegate: AnyObject {
  /// Handles an interface that went up or down, or changed its network or addresses.
  func interfacesChanged()

  /// Handles a datagram; `path.local` is its destination address. The bytes are lent for the duration of the call.
  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path)

  /// Handles a timer, which fires only once.
  func timerFired(_ token: UInt64)

  /// Handles a connection of a peer to a port that the host listens on.
  func accepted(_ stream: StreamID, path: Path)

  /// Handles an event of a stream that the host opened or accepted.
  func streamEvent(_ event: StreamEvent, on stream: StreamID)
}

/// Default implementations for a host without streams.
extension HostDelegate {
  /// Ignores the stream.
  public func accepted(_ stream: StreamID, path: Path) {}
  /// Ignores the event.
  public func streamEvent(_ event: StreamEvent, on stream: StreamID) {}
}
