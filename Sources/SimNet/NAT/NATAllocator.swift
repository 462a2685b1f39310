import CallCore

/// Allocates external endpoints: pooling, quotas, port preservation and selection.
struct NATAllocator: ~Copyable {
  private struct Host {
    var mappings = 0
    /// Index of the external address paired with this host.
    var address: Int
    /// Its blocks on that address, oldest first.
    var blocks: [Int] = []
  }

  private struct Resting: BitwiseCopyable {
    var endpoint: Endpoint
    var transport: TransportProtocol
    var until: Instant
  }

  private static let wellKnown: UInt16 = 1_023

  private var configuration: NATConfiguration
  private var range: ClosedRange<UInt16>
  private var addresses: [IPAddress]
  /// Two sets per address: UDP, then TCP. Unused while ports are overloaded, because the table then knows the taken
  /// ports.
  private var ports: [NATPorts]
  /// The owners of blocks, if ports are allocated in blocks.
  private var blocks: NATBlocks?
  private var hosts: [IPAddress: Host] = [:]
  private var nextAddress = 0
  private var nextPort: UInt16
  private var random: RandomStream
  /// Freed ports on their reuse delay, oldest first.
  private var resting = FIFO<Resting>()
  /// The number of ports that were chosen, not preserved.
  private(set) var chosenCount = 0
  /// The number of blocks that were chosen.
  private(set) var chosenBlockCount = 0
  /// The number of ports freed, and of those whose reuse delay was changed.
  private(set) var freedCount = 0
  /// The number of requests for another mapping, by the number of mappings that the host had.
  private(set) var hostDemands: [Int] = []

  init(_ configuration: NATConfiguration, addresses: [IPAddress], random: consuming RandomStream) {
    self.configuration = configuration
    range = Self.range(of: configuration)
    self.addresses = addresses
    ports = Array(repeating: NATPorts(), count: 2 * addresses.count)
    nextPort = range.lowerBound
    self.random = random
    if let wanted = configuration.blocks {
      blocks = NATBlocks(wanted, range: range, addressCount: addresses.count)
    }
  }

  private static func range(of configuration: NATConfiguration) -> ClosedRange<UInt16> {
    max(1, configuration.portRange.lowerBound)...max(1, configuration.portRange.upperBound)
  }

  /// Applies another configuration to later choices. Allocated ports stay allocated, and the sequence of ports
  /// continues.
  mutating func change(to new: NATConfiguration) {
    let longer = new.portReuseDelay - configuration.portReuseDelay
    var moved = FIFO<Resting>()
    while var port = resting.popFirst() {
      if longer != .zero { freedCount += 1 }
      port.until += longer
      moved.append(port)
    }
    resting = moved
    configuration = new
    range = Self.range(of: new)
  }

  func hasMappings(of host: IPAddress) -> Bool { hosts[host].map { $0.mappings > 0 } ?? false }

  // MARK: Taking

  /// Allocates an external endpoint for a new mapping; returns nil if the quota or the ports are exhausted.
  mutating func allocate(
    for source: Endpoint, remote: Endpoint, _ transport: TransportProtocol, in table: borrowing NATTable
  ) -> Endpoint? {
    var host = hosts[source.address] ?? Host(address: nextAddress)
    NATTally.count(host.mappings, in: &hostDemands)
    if let limit = configuration.mappingsPerHost, host.mappings >= limit { return nil }
    let tries = configuration.pooling == .paired ? 1 : addresses.count
    let isDrawn = configuration.pooling == .arbitrary && addresses.count > 1
    let first = isDrawn ? Int(random.uniform(below: UInt64(addresses.count))) : host.address
    for offset in 0..<tries {
      let index = (first + offset) % addresses.count
      let chosen =
        blocks == nil
        ? choosePort(source.port, keep: true, index, remote, transport, table)
        : choosePort(inBlocksOf: &host, source, keep: true, index, transport)
      guard let port = chosen else { continue }
      if hosts[source.address] == nil { nextAddress = (nextAddress + 1) % addresses.count }
      host.mappings += 1
      hosts[source.address] = host
      take(port, on: index, transport)
      return Endpoint(addresses[index], port: port)
    }
    return nil
  }

  private mutating func take(_ port: UInt16, on index: Int, _ transport: TransportProtocol) {
    guard !configuration.overloadsPorts else { return }
    ports[set(index, transport)].insert(port)
    blocks?.use(port, on: index)
  }

  /// Allocates another port on the same address for a live mapping; returns nil if there is none.
  mutating func reallocate(_ mapping: NATMapping, in table: borrowing NATTable) -> Endpoint? {
    guard let index = addresses.firstIndex(of: mapping.external.address) else { return nil }
    let remote = mapping.remote ?? .unspecifiedIPv4
    var host = hosts[mapping.internal.address] ?? Host(address: index)
    let chosen =
      blocks == nil
      ? choosePort(mapping.internal.port, keep: false, index, remote, mapping.transport, table)
      : choosePort(inBlocksOf: &host, mapping.internal, keep: false, index, mapping.transport)
    guard let port = chosen else { return nil }
    if blocks != nil { hosts[mapping.internal.address] = host }
    take(port, on: index, mapping.transport)
    return Endpoint(mapping.external.address, port: port)
  }

  private mutating func choosePort(
    _ internalPort: UInt16, keep: Bool, _ index: Int, _ remote: Endpoint, _ transport: TransportProtocol,
    _ table: borrowing NATTable
  ) -> UInt16? {
    let isOverloading = configuration.overloadsPorts
    func isFree(_ port: UInt16) -> Bool {
      isOverloading
        ? table.isFree(Endpoint(addresses[index], port: port), towards: remote, transport)
        : !ports[set(index, transport)].contains(port)
    }
    if keep, configuration.preservesPort, range.contains(internalPort), isFree(internalPort) { return internalPort }
    chosenCount += 1
    let candidates = portClass(of: internalPort)
    let count = UInt64(candidates.upperBound - candidates.lowerBound) + 1
    let start: UInt16 =
      switch configuration.portSelection {
      case .random: candidates.lowerBound + UInt16(random.uniform(below: count))
      case .sequential: candidates.contains(nextPort) ? nextPort : candidates.lowerBound
      }
    let parity = configuration.preservesParity ? internalPort & 1 : nil
    let chosen =
      isOverloading
      ? firstFree(from: start, in: candidates, parity: parity, where: isFree)
      : ports[set(index, transport)].firstFree(from: start, in: candidates, parity: parity)
    if let chosen { nextPort = chosen == range.upperBound ? range.lowerBound : chosen + 1 }
    return chosen
  }

  /// Chooses a port of the host's blocks, or of an additional block if the host may have one.
  private mutating func choosePort(
    inBlocksOf host: inout Host, _ source: Endpoint, keep: Bool, _ index: Int, _ transport: TransportProtocol
  ) -> UInt16? {
    for block in host.blocks {
      if let port = choosePort(in: block, source.port, keep: keep, index, transport) { return port }
    }
    guard let limit = configuration.blocks?.perHost, host.blocks.count < limit, let count = blocks?.count else {
      return nil
    }
    let start = configuration.portSelection == .random ? Int(random.uniform(below: UInt64(count))) : 0
    guard let block = blocks?.take(for: source.address, on: index, address: addresses[index], from: start) else {
      return nil
    }
    chosenBlockCount += 1
    host.blocks.append(block)
    return choosePort(in: block, source.port, keep: keep, index, transport)
  }

  private mutating func choosePort(
    in block: Int, _ internalPort: UInt16, keep: Bool, _ index: Int, _ transport: TransportProtocol
  ) -> UInt16? {
    guard let range = blocks?.ports(of: block) else { return nil }
    let taken = set(index, transport)
    let keeps = keep && configuration.preservesPort && range.contains(internalPort)
    if keeps, !ports[taken].contains(internalPort) { return internalPort }
    chosenCount += 1
    let start =
      configuration.portSelection == .random
      ? range.lowerBound + UInt16(random.uniform(below: UInt64(range.count))) : range.lowerBound
    return ports[taken].firstFree(
      from: start, in: range, parity: configuration.preservesParity ? internalPort & 1 : nil)
  }

  private func firstFree(
    from start: UInt16, in range: ClosedRange<UInt16>, parity: UInt16?, where isFree: (UInt16) -> Bool
  ) -> UInt16? {
    var port = start
    repeat {
      if parity.map({ $0 == port & 1 }) ?? true, isFree(port) { return port }
      port = port == range.upperBound ? range.lowerBound : port + 1
    } while port != start
    return nil
  }

  /// Returns the part of the range in the same class, well-known or not, as the internal port (RFC 4787 REQ-3b); the
  /// whole range if it has no such part.
  private func portClass(of port: UInt16) -> ClosedRange<UInt16> {
    if port <= Self.wellKnown {
      return range.lowerBound <= Self.wellKnown
        ? range.lowerBound...min(range.upperBound, Self.wellKnown) : range
    }
    return range.upperBound > Self.wellKnown
      ? max(range.lowerBound, Self.wellKnown + 1)...range.upperBound : range
  }

  private func set(_ address: Int, _ transport: TransportProtocol) -> Int {
    2 * address + (transport == .udp ? 0 : 1)
  }

  // MARK: Giving back

  /// Releases the endpoint of a removed mapping.
  mutating func release(_ mapping: NATMapping, at now: Instant) {
    let host = mapping.internal.address
    if var known = hosts[host] {
      known.mappings -= 1
      hosts[host] = known.mappings > 0 || !known.blocks.isEmpty ? known : nil
    }
    release(port: mapping.external, mapping.transport, at: now)
  }

  mutating func release(port endpoint: Endpoint, _ transport: TransportProtocol, at now: Instant) {
    freedCount += 1
    guard !configuration.overloadsPorts else { return }
    guard configuration.portReuseDelay > .zero else { return free(endpoint, transport) }
    resting.append(Resting(endpoint: endpoint, transport: transport, until: now + configuration.portReuseDelay))
  }

  /// Frees the ports whose reuse delay is over.
  mutating func advance(to now: Instant) {
    while let oldest = resting.first, oldest.until <= now {
      free(oldest.endpoint, oldest.transport)
      _ = resting.popFirst()
    }
  }

  private mutating func free(_ endpoint: Endpoint, _ transport: TransportProtocol) {
    guard let index = addresses.firstIndex(of: endpoint.address) else { return }
    ports[set(index, transport)].remove(endpoint.port)
    guard let (block, owner) = blocks?.release(endpoint.port, on: index, address: endpoint.address) else { return }
    hosts[owner]?.blocks.removeAll { $0 == block }
    if let host = hosts[owner], host.mappings == 0, host.blocks.isEmpty { hosts[owner] = nil }
  }

  /// The number of free ports of all addresses and both transports; nil while ports are overloaded.
  var freePortCount: Int? {
    configuration.overloadsPorts ? nil : ports.reduce(0) { $0 + range.count - $1.count(in: range) }
  }

  /// Returns the next allocated or freed block, in order, or nil.
  mutating func nextEvent() -> NATEvent? { blocks?.events.popFirst() }

  /// Releases every allocated port, as a reboot does; the sequence of ports continues.
  mutating func forget(addresses new: [IPAddress]? = nil) {
    blocks?.forget(on: addresses, addresses: new?.count ?? addresses.count)
    if let new { addresses = new }
    ports = Array(repeating: NATPorts(), count: 2 * addresses.count)
    hosts.removeAll()
    resting.removeAll()
    nextAddress = 0
  }
}
