package import CallCore
internal import Glibc

/// An address of a network interface of this machine.
package struct InterfaceAddress: Hashable, Sendable {
  package let name: String
  package let address: IPAddress
  /// The index of the interface, which sockets need for link-local IPv6 addresses.
  package let index: UInt32

  package init(name: String, address: IPAddress, index: UInt32) {
    self.name = name
    self.address = address
    self.index = index
  }

  /// A label like W3C's `RTCNetworkType`, from sysfs and the name of the interface.
  package var networkType: String {
    if access("/sys/class/net/\(name)/wireless", F_OK) == 0 || name.hasPrefix("wl") { return "wifi" }
    if name.hasPrefix("ww") || name.hasPrefix("rmnet") { return "cellular" }
    if name.hasPrefix("tun") || name.hasPrefix("wg") || name.hasPrefix("ppp") { return "vpn" }
    return "ethernet"
  }

  /// The addresses of all interfaces that are up, in a stable order; nil if the system cannot list them, for example
  /// because no descriptor is free.
  package static var all: [InterfaceAddress]? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var found: [InterfaceAddress] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard entry.ifa_flags & UInt32(IFF_UP) != 0, let address = entry.ifa_addr,
        let endpoint = SocketAddress.endpoint(at: address)
      else { continue }
      let value = InterfaceAddress(
        name: String(cString: entry.ifa_name), address: endpoint.address, index: if_nametoindex(entry.ifa_name))
      if !found.contains(value) { found.append(value) }
    }
    return found.sorted { ($0.index, $0.address) < ($1.index, $1.address) }
  }
}

/// A filter for the machine's addresses that a call may use.
package struct InterfaceFilter: Hashable, Sendable {
  /// Whether loopback addresses are allowed, for calls on one machine.
  package var allowsLoopback = false
  /// The names of the interfaces to use; empty for all.
  package var names: [String] = []
  package var allowsIPv6 = true

  package init() {}

  /// Returns the allowed addresses, with link-local IPv6 addresses only if there are no others (RFC 8421 section 3
  /// prefers wider scopes).
  package func select(from addresses: [InterfaceAddress]) -> [InterfaceAddress] {
    let allowed = addresses.filter { candidate in
      (names.isEmpty || names.contains(candidate.name)) && (allowsLoopback || !candidate.address.isLoopback)
        && (allowsIPv6 || !candidate.address.isIPv6)
    }
    let global = allowed.filter { !($0.address.isIPv6 && $0.address.isLinkLocal) }
    return global.isEmpty ? allowed : global
  }
}
