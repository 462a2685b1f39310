internal import SimNet

extension DropReason {
  /// A one-line explanation of the reason.
  var summary: String {
    switch self {
    case .loss: "a lossy link lost it"
    case .queue: "the queue before a link was full"
    case .natFilter: "a NAT has a mapping for it, whose filter lets nothing in from this sender (RFC 4787 section 5)"
    case .natNoMapping: "a NAT has no mapping for the address and port that it was sent to"
    case .natPortsExhausted: "a NAT has no free port to map it to, or none left for this client"
    case .mtu: "it is larger than the MTU of a link; datagrams are never fragmented"
    case .linkDown: "a link is down, or went down while it was on its way"
    case .blackhole: "a link that seems up swallows it: everything, or what is larger than a size"
    case .firewall: "a firewall forbids it"
    case .noRoute: "no network on its way knows the address: nobody has it, or it is private to another network"
    case .noSocket: "the host has the address, but nothing listens on the port"
    case .corrupt: "it arrived damaged, and the receiver's checksum tells"
    case .rule: "a fault drops packets like this: packet.drop or dtls.drop"
    case .natHairpin: "it went from inside a NAT to an outside address of the same NAT, which sends nothing back in"
    case .isolated: "one client of a network sent it to another, and the network keeps its clients apart"
    case .suspended: "the app that it is for is suspended, and its system keeps no datagrams for it"
    }
  }
}
