public import CallCore

/// Sees every packet at every host interface, for captures.
///
/// It must not call the simulator.
public protocol PacketTap: AnyObject {
  /// - Parameter direction: `tx` before the packet meets the link, `rx` after it has crossed it.
  func observed(
    _ payload: RawSpan, from source: Endpoint, to destination: Endpoint, ecn: ECN, on interface: InterfaceID,
    _ direction: LinkDirection, at now: Instant)
}
