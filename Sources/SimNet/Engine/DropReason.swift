/// Why a packet did not arrive. Every packet sent is delivered or dropped for one of these.
public enum DropReason: String, CaseIterable, Sendable {
  case loss, queue
  case natFilter = "nat-filter"
  case natNoMapping = "nat-no-mapping"
  case natPortsExhausted = "nat-ports-exhausted"
  case mtu
  case linkDown = "link-down"
  case blackhole, firewall
  case noRoute = "no-route"
  case noSocket = "no-socket"
  case corrupt
  /// A ``PacketRule``.
  case rule
  case natHairpin = "nat-hairpin"
  /// From one client to another of a network that keeps its clients apart.
  case isolated
}
