public import CallCore

/// Observes every packet at every host interface, for captures.
///
/// It must not call the simulator.
public protocol PacketTap: AnyObject {
  /// Names an interface before its first packet.
  func added(_ interface: InterfaceID, name: String)

  /// Observes a packet.
  ///
  /// - Parameters:
  ///   - payload: the payload of UDP, or a TCP segment with its header.
  ///   - direction: `tx` before the packet meets the link, `rx` after it has crossed it. A packet that a ``PacketRule``
  ///     drops at its receiver is not observed there.
  ///   - isDamaged: whether its checksum is wrong, so that the host will drop it.
  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant)
}
