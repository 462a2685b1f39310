import CallCore
import Testing

@testable import SimNet

/// Ports in blocks, each of one internal host.
struct NATBlockTests {
  private let hosts = (1...4).map { IPAddress(v4: 0x0A00_0000 + UInt32($0)) }

  private func nat(
    _ size: Int, most: Int = 1, range: ClosedRange<UInt16> = 1_024...1_151, reuse: Interval = .zero, addresses: Int = 1
  ) -> NAT {
    let configuration = NATConfiguration(
      mapping: .addressAndPortDependent, timers: SessionTimers(udp: .seconds(30)), preservesPort: false,
      portRange: range, portReuseDelay: reuse, blocks: PortBlocks(size: size, perHost: most))
    return NAT(
      configuration, externalAddresses: (0..<addresses).map { IPAddress(v4: 0xC000_0201 + UInt32($0)) },
      random: RandomStream(seed: 7))
  }

  /// The external endpoint of a new flow of the host, or nil when there is no port for it.
  private func open(
    _ nat: inout NAT, _ host: Int, _ flow: Int, _ transport: TransportProtocol = .udp, at seconds: Int64 = 0
  ) -> Endpoint? {
    let verdict = nat.translateOutbound(
      source: Endpoint(hosts[host], port: 5_000), destination: Endpoint(IPAddress(v4: 0xC633_6401), port: UInt16(flow)),
      protocol: transport, flags: transport == .tcp ? .syn : [], at: .zero + .seconds(seconds))
    guard case .forward(let source, _) = verdict else { return nil }
    return source
  }

  private func events(_ nat: inout NAT) -> [NATEvent] {
    var events: [NATEvent] = []
    while let event = nat.nextEvent() { events.append(event) }
    return events
  }

  private func taken(_ nat: inout NAT) -> [NATBlock] {
    events(&nat).compactMap { if case .blockTaken(let block) = $0 { block } else { nil } }
  }

  @Test func `all mappings of a host lie in one block of the size that is set`() throws {
    var nat = nat(16)
    let ports = (1...16).compactMap { open(&nat, 0, $0)?.port }
    #expect(Set(ports).count == 16)
    let low = try #require(ports.min())
    #expect(ports.max() == low + 15)
    #expect((low - 1_024) % 16 == 0)
  }

  @Test func `a host whose block is used up is refused while its neighbour is served`() {
    var nat = nat(8)
    for flow in 1...8 { #expect(open(&nat, 0, flow) != nil) }
    #expect(open(&nat, 0, 9) == nil)
    #expect(open(&nat, 1, 9) != nil)
  }

  @Test func `UDP and TCP share the block of a host`() {
    var nat = nat(8)
    #expect(open(&nat, 0, 1) != nil)
    #expect(open(&nat, 0, 2, .tcp) != nil)
    let blocks = taken(&nat)
    #expect(blocks.count == 1)
  }

  @Test func `a host gets as many blocks as it may have, on one address`() {
    var nat = nat(4, most: 3, addresses: 2)
    let endpoints = (1...13).compactMap { open(&nat, 0, $0) }
    #expect(endpoints.count == 12)
    #expect(Set(endpoints.map(\.address)).count == 1)
    let blocks = taken(&nat)
    #expect(blocks.count == 3)
    #expect(Set(blocks.map(\.ports.lowerBound)).count == 3)
  }

  @Test func `blocks of different hosts never overlap`() {
    var nat = nat(32)
    for host in 0..<4 { for flow in 1...5 { #expect(open(&nat, host, flow) != nil) } }
    let blocks = taken(&nat)
    #expect(blocks.count == 4)
    #expect(Set(blocks.map(\.ports.lowerBound)).count == 4)
  }

  @Test func `when every block is taken a new host is refused, though ports are free`() {
    var nat = nat(64)
    #expect(open(&nat, 0, 1) != nil)
    #expect(open(&nat, 1, 1) != nil)
    #expect(open(&nat, 2, 1) == nil)
  }

  @Test func `a block is anybody's once the last mapping in it is gone`() {
    var nat = nat(64)
    _ = (open(&nat, 0, 1), open(&nat, 1, 1))
    _ = events(&nat)
    #expect(open(&nat, 2, 1, at: 31) != nil)
    let freed = events(&nat).filter { if case .blockFreed = $0 { true } else { false } }
    #expect(freed.count == 2)
  }

  @Test func `a block stays with its host while one of its ports is at rest`() {
    var nat = nat(64, reuse: .seconds(120))
    _ = (open(&nat, 0, 1), open(&nat, 1, 1))
    #expect(open(&nat, 2, 1, at: 31) == nil)
    #expect(open(&nat, 0, 2, at: 32) != nil)
    #expect(open(&nat, 2, 1, at: 200) != nil)
  }

  @Test func `a remap moves a mapping within the blocks of its host`() throws {
    var nat = nat(8)
    let before = try #require(open(&nat, 0, 1))
    nat.remap(at: .zero)
    let after = try #require(nat.mappings.first?.external)
    #expect(after != before)
    #expect((after.port - 1_024) / 8 == (before.port - 1_024) / 8)
  }

  @Test func `a reboot takes every block back`() {
    var nat = nat(64)
    _ = (open(&nat, 0, 1), open(&nat, 1, 1))
    nat.reset(at: .zero)
    #expect(open(&nat, 2, 1) != nil)
    #expect(open(&nat, 3, 1) != nil)
  }

  @Test func `a reboot tells of every block that it takes back, at rest or not`() {
    var nat = nat(64, reuse: .seconds(120))
    _ = (open(&nat, 0, 1), open(&nat, 1, 1))
    let given = taken(&nat)
    nat.reset(externalAddresses: [IPAddress(v4: 0xC000_0299)], at: .zero)
    let freed = events(&nat).compactMap { if case .blockFreed(let block) = $0 { block } else { nil } }
    #expect(Set(freed) == Set(given) && freed.count == 2)
  }

  @Test func `ports that fill no block are never given`() {
    var nat = nat(50, most: 9)
    let ports = (1...128).compactMap { open(&nat, 0, $0)?.port }
    #expect(ports.count == 100)
    #expect(ports.allSatisfy { $0 < 1_124 })
  }

  @Test func `blocks that cannot be are refused`() {
    var configuration = NATConfiguration(portRange: 1_024...1_100, blocks: PortBlocks(size: 78))
    #expect(configuration.problem != nil)
    configuration.blocks = PortBlocks(size: 77)
    #expect(configuration.problem == nil)
    configuration.pooling = .arbitrary
    #expect(configuration.problem != nil)
    configuration.pooling = .paired
    configuration.blocks?.perHost = 0
    #expect(configuration.problem != nil)
  }

  /// Random flows against a list of who has which block.
  @Test func `no port is ever outside the blocks of its host`() {
    var nat = nat(16, most: 2, reuse: .seconds(5))
    var random = RandomStream(seed: 3)
    var owners: [UInt16: IPAddress] = [:]
    for step in 0..<4_000 {
      let host = Int(random.uniform(below: 4))
      let external = open(&nat, host, Int(random.uniform(in: 1...60)), at: Int64(step) / 4)
      for event in events(&nat) {
        switch event {
        case .blockTaken(let block):
          #expect(owners[block.ports.lowerBound] == nil)
          owners[block.ports.lowerBound] = block.host
        case .blockFreed(let block):
          #expect(owners[block.ports.lowerBound] == block.host)
          owners[block.ports.lowerBound] = nil
        default: break
        }
      }
      if let external { #expect(owners[external.port & ~15] == hosts[host], "step \(step)") }
      #expect(owners.values.count { $0 == hosts[host] } <= 2)
    }
  }

  @Test func `all hosts together have no more mappings than the limit`() {
    var nat = makeNAT(NATConfiguration(mapping: .addressAndPortDependent, mappingLimit: 3))
    for flow in 1...3 { #expect(open(&nat, flow, flow) != nil) }
    #expect(open(&nat, 0, 9) == nil)
    #expect(open(&nat, 1, 1) != nil)
  }
}
