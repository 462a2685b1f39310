internal import CallCore

/// A network: hosts that reach each other directly, and a router to its parent if it has one.
struct Network: ~Copyable {
  let name: String
  let prefixes: [IPPrefix]
  let parent: NetworkID?
  /// The link from the router to the parent network.
  let uplink: LinkID?
  let subject: TraceSubject
  /// The address translation and filtering of its router; IPv6 passes a NAT unchanged.
  var nat: NAT?
  var firewall: Firewall?
  /// The values of its NAT that are written into the trace when they change, with the last written ones.
  var watchedNAT: [(value: NATValue, last: Int?)] = []
  /// The event that will look for idle mappings, and its time, so that the trace shows expiries in time.
  var expiryCheck: (time: Instant, event: UInt64)?
  var owners = AddressMap()
  /// Whether hosts and routers on it reach only its router and not each other, as on a guest Wi-Fi.
  var isIsolated = false
  /// Prefixes reached through a child network's router, longest first.
  var routes: [(prefix: IPPrefix, child: NetworkID)] = []
  /// The number of the next host address to assign, for each prefix.
  private var nextHost: [UInt64]

  init(
    name: String, prefixes: [IPPrefix], parent: NetworkID?, uplink: LinkID?, subject: TraceSubject,
    nat: consuming NAT?, firewall: Firewall?
  ) {
    self.nat = nat
    self.firewall = firewall
    self.name = name
    self.prefixes = prefixes
    self.parent = parent
    self.uplink = uplink
    self.subject = subject
    nextHost = Array(repeating: Self.firstHost, count: prefixes.count)
  }

  /// The first number for hosts; number 1 is the router's, as on most networks.
  private static let firstHost: UInt64 = 2

  /// Returns whether packets from one of its clients may not go to `address`, because it belongs to another client.
  func isolates(_ address: IPAddress) -> Bool { isIsolated && (contains(address) || route(to: address) != nil) }

  func contains(_ address: IPAddress) -> Bool { prefixes.contains { $0.contains(address) } }

  /// Returns the lowest address of the `index`-th prefix that was never assigned; if there is none, the lowest that was
  /// released; nil if all are in use.
  mutating func takeAddress(prefix index: Int) -> IPAddress? {
    let first = nextHost[index]
    if let address = nextFree(prefix: index) { return address }
    guard first > Self.firstHost else { return nil }
    nextHost[index] = Self.firstHost
    defer { nextHost[index] = max(nextHost[index], first) }
    return nextFree(prefix: index)
  }

  private mutating func nextFree(prefix index: Int) -> IPAddress? {
    let prefix = prefixes[index]
    while let candidate = prefix.host(nextHost[index]) {
      nextHost[index] += 1
      let isBroadcast = !prefix.address.isIPv6 && prefix.length < 31 && prefix.host(nextHost[index]) == nil
      if !isBroadcast, !owners.contains(candidate) { return candidate }
    }
    return nil
  }

  mutating func addRoute(_ prefix: IPPrefix, child: NetworkID) {
    let position = routes.firstIndex { $0.prefix.length < prefix.length } ?? routes.count
    routes.insert((prefix, child), at: position)
  }

  func route(to address: IPAddress) -> NetworkID? {
    for route in routes where route.prefix.contains(address) { return route.child }
    return nil
  }
}
