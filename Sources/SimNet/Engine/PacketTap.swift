public import CallCore

/// Sees every packet at every host interface, for captures.
///
/// It must not call the simulator.
public protocol PacketTap: AnyObject {
  /// Names an interface before its first packet.
  func added(_ interface: InterfaceID, name: String)

  /// - Parameters:
  ///   - payload: what UDP carries, or a TCP segment with its header.
  ///   - direction: `tx` before the packet meets the link, `rx` after it has crossed it. What a ``PacketRule`` drops at its
  ///     receiver is not seen there.
  ///   - isDamaged: whether its checksum is wrong, so that the host will drop it.
  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant)
}
