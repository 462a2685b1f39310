internal import CallCore
package import ExternalRecords
package import SimNet

/// A simulated host with its addresses in a real kernel: a network namespace with a TUN device for each interface.
///
/// Packets from programs in the namespace go onto the simulated wire. Packets that arrive at the host for no simulated
/// socket go to the programs. The kernel's interfaces follow the simulated ones.
package final class ExternalHost: HostBridge {
  let name: String
  let host: HostID
  let space: NetworkNamespace
  let pace: RealTimePace
  unowned let simulator: Simulator
  /// The tunnels with the initial MTU of their links: the kernel must not learn of a later MTU black hole.
  private var tunnels: [(interface: InterfaceID, tunnel: Tunnel, mtu: Int)] = []
  private var shown = KernelInterfaces()
  private var packet: [UInt8] = []
  private let media: MediaOnTheWire
  let subject: TraceSubject
  private var openConnections = 0
  /// The end of the time in which media is dropped after the last connection was closed.
  private var mediaEnd: Instant?
  /// The first error that could not be thrown to a caller.
  private(set) var failure: ExternalError?

  /// - Parameter folder: the folder for the programs' files; removed if this process is killed.
  /// - Throws: if this machine does not allow network namespaces or TUN devices.
  package init(
    _ name: String, host: HostID, of simulator: Simulator, pace: RealTimePace, folder: String? = nil
  ) throws(ExternalError) {
    self.name = name
    self.host = host
    self.simulator = simulator
    self.pace = pace
    let trace = simulator.trace
    subject = trace.subject(name)
    media = MediaOnTheWire(trace, subject)
    space = try NetworkNamespace(folder: folder)
    for parameter in ["ipv4/conf/all/rp_filter", "ipv4/conf/default/rp_filter"] { space.set(parameter, to: "0") }
    for parameter in ["ipv6/conf/all/disable_ipv6", "ipv6/conf/default/disable_ipv6"] { space.set(parameter, to: "0") }
    space.set("ipv4/conf/all/promote_secondaries", to: "1")
    // No duplicate address detection, which delays programs; no router solicitations, which may add foreign addresses.
    space.set("ipv6/conf/default/accept_dad", to: "0")
    space.set("ipv6/conf/default/router_solicitations", to: "0")
    try space.configure(["link set dev lo up"])
    var numbers: [NetworkType: Int] = [:]
    for interface in simulator.interfaces(of: host) {
      let number = numbers[interface.type, default: 0]
      numbers[interface.type] = number + 1
      let device = KernelInterfaces.device(of: interface.type, number: number)
      let tunnel = try space.openTunnel(device)
      tunnels.append((interface.id, tunnel, Self.mtu(of: interface, simulator)))
      pace.watch(tunnel.descriptor) { [unowned self] in readPackets(from: tunnel) }
    }
    simulator.setBridge(self, of: host)
  }

  deinit { tearDown() }

  /// Keeps the first error.
  func note(_ error: ExternalError) {
    if failure == nil { failure = error }
  }

  // MARK: Connections

  /// The time in which media of a closed connection is dropped. W3C's `close` takes effect at once, but the program
  /// learns of it later; media that it sends after this time is traced.
  private static let closingTime = Interval.seconds(2)

  func connectionOpened() {
    openConnections += 1
    mediaEnd = nil
  }

  func connectionClosed() {
    openConnections -= 1
    if openConnections == 0 { mediaEnd = simulator.now + Self.closingTime }
  }

  // MARK: Packets

  private func readPackets(from tunnel: Tunnel) {
    tunnel.readPackets { packet in
      switch IPPacket.parse(packet) {
      case .success(let datagram): send(packet, datagram)
      case .failure(let defect): drop(defect.name, packet.byteCount)
      }
    }
  }

  private func send(_ packet: RawSpan, _ datagram: IPDatagram) {
    guard !datagram.header.destination.address.isGroup else { return drop("multicast", packet.byteCount) }
    let payload = packet.extracting(datagram.payload)
    if let end = mediaEnd, simulator.now < end, MediaOnTheWire.packet(in: payload) != nil {
      return drop("media-after-close", packet.byteCount)
    }
    simulator.inject(payload, datagram.header, from: host)
    media.sent(payload)
  }

  private func drop(_ what: String, _ byteCount: Int) {
    simulator.trace.write(ProgramEvents.frameDropped, subject, what, byteCount)
  }

  package func received(_ payload: RawSpan, _ header: PacketHeader) {
    guard let entry = tunnels.first(where: { owns($0.interface, header.destination.address) }) else {
      return drop("no-interface", payload.byteCount)
    }
    packet.removeAll(keepingCapacity: true)
    guard
      IPPacket.append(
        payload, source: header.source, destination: header.destination, transport: header.transport, ecn: header.ecn,
        to: &packet),
      entry.tunnel.write(packet)
    else { return drop("kernel", payload.byteCount) }
    media.received(payload)
  }

  private func owns(_ interface: InterfaceID, _ address: IPAddress) -> Bool {
    simulator.interface(interface).addresses.contains(address)
  }

  // MARK: Interfaces

  /// Updates the kernel's interfaces to those of the simulated host.
  ///
  /// - Parameter preferred: the interfaces that are up, the preferred one first.
  func show(_ preferred: [NetworkInterface]) {
    var wanted = KernelInterfaces()
    for (id, tunnel, mtu) in tunnels {
      let interface = simulator.interface(id)
      let prefixes = simulator.prefixes(of: interface.network)
      let addresses = interface.addresses.map { address in
        KernelInterfaces.IPPrefixAddress(
          address: address,
          prefixLength: prefixes.first { $0.contains(address) }?.length ?? (address.isIPv6 ? 128 : 32))
      }
      let rank = preferred.firstIndex { $0.id == id } ?? preferred.count
      wanted.entries.append(
        KernelInterfaces.Entry(
          device: tunnel.name, isUp: interface.isUp, mtu: mtu,
          addresses: interface.isUp ? addresses : [], metric: 100 + 10 * rank))
    }
    guard wanted != shown else { return }
    do throws(ExternalError) {
      try space.configure(wanted.commands(from: shown))
    } catch {
      note(error)
    }
    shown = wanted
    simulator.trace.write(ProgramEvents.interfaces, subject, "\(wanted)")
  }

  /// Returns the MTU for a device: at least 1280 bytes with IPv6 (RFC 8200 section 5), since kernels refuse less.
  private static func mtu(of interface: NetworkInterface, _ simulator: Simulator) -> Int {
    let settings = LinkDirection.allCases.map { simulator.settings(of: interface.link, $0).mtu }
    let least = interface.addresses.contains { $0.isIPv6 } ? 1_280 : 576
    return max(least, min(settings.min() ?? 1_500, 1_500))
  }

  // MARK: Teardown

  /// Returns the network type of the interface that has the address.
  func networkType(of address: IPAddress) -> NetworkType {
    simulator.interfaces(of: host).first { $0.addresses.contains(address) }?.type ?? .unknown
  }

  /// Removes the tunnels: packets that arrive later are dropped.
  func tearDown() {
    for (_, tunnel, _) in tunnels { pace.unwatch(tunnel.descriptor) }
    tunnels = []
  }
}

extension IPAddress {
  /// Whether the address is multicast or broadcast, which simulated networks do not carry.
  var isGroup: Bool { isIPv6 ? high >> 56 == 0xFF : low >> 28 == 0xE || low == 0xFFFF_FFFF }
}
