/// The reason for which a packet did not arrive. Every sent packet is delivered or dropped for one of these.
public enum DropReason: String, CaseIterable, Sendable {
  /// The link's loss model.
  case loss
  /// The link's queue was full.
  case queue
  /// The NAT's filter refused an inbound packet (RFC 4787 section 5).
  case natFilter = "nat-filter"
  /// The NAT has no mapping for an inbound packet.
  case natNoMapping = "nat-no-mapping"
  /// The NAT had no port left for a new mapping.
  case natPortsExhausted = "nat-ports-exhausted"
  /// The packet is larger than the link's MTU.
  case mtu
  /// The link was down.
  case linkDown = "link-down"
  /// The link is a blackhole.
  case blackhole
  /// A firewall refused the packet.
  case firewall
  /// No route leads to the destination.
  case noRoute = "no-route"
  /// No socket is bound to the destination.
  case noSocket = "no-socket"
  /// The receiver's checksum did not match.
  case corrupt
  /// A ``PacketRule`` dropped the packet.
  case rule
  /// The NAT does not forward packets to another internal host's external endpoint (RFC 4787 section 6).
  case natHairpin = "nat-hairpin"
  /// The network isolates its clients from each other.
  case isolated
  /// The receiving host is suspended.
  case suspended
}
