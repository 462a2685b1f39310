public import CallCore

extension Simulator {
  // MARK: Sockets

  /// Opens a UDP socket.
  ///
  /// - Parameters:
  ///   - address: one of the host's addresses, or nil for all of them, of either family.
  ///   - port: the port, or 0 for a free one above 49151 (RFC 6335), chosen at random.
  public func bind(
    _ host: HostID, address: IPAddress? = nil, port: UInt16 = 0
  ) throws(SimulatorError) -> UDPSocket {
    if let address, interface(of: host, owning: address) == nil { throw .unknownAddress(address) }
    let port = port == 0 ? try ephemeralPort(of: host, address) : port
    guard isFree(port, of: host, address) else {
      throw .portInUse(Endpoint(address ?? .anyIPv4, port: port))
    }
    socketCount += 1
    let entry = SocketEntry(
      serial: socketCount, host: host, address: address, port: port, next: hosts[host.index].ports[port])
    let index: UInt32
    if let free = freeSockets.popLast() {
      index = free
      sockets[Int(free)] = entry
    } else {
      index = UInt32(sockets.count)
      sockets.append(entry)
    }
    hosts[host.index].ports[port] = index
    hosts[host.index].openSockets += 1
    return UDPSocket(index: index, serial: socketCount)
  }

  /// Closes the socket. Closing it again does nothing.
  public func close(_ socket: UDPSocket) {
    guard isOpen(socket) else { return }
    let entry = sockets[Int(socket.index)]
    if hosts[entry.host.index].ports[entry.port] == socket.index {
      hosts[entry.host.index].ports[entry.port] = entry.next
    } else {
      var previous = hosts[entry.host.index].ports[entry.port]
      while let index = previous {
        if sockets[Int(index)].next == socket.index { sockets[Int(index)].next = entry.next }
        previous = sockets[Int(index)].next
      }
    }
    sockets[Int(socket.index)].isOpen = false
    freeSockets.append(socket.index)
    hosts[entry.host.index].openSockets -= 1
  }

  public func isOpen(_ socket: UDPSocket) -> Bool {
    sockets[Int(socket.index)].serial == socket.serial && sockets[Int(socket.index)].isOpen
  }

  /// The address and port the socket is bound to; an unspecified address when it takes any.
  public func localEndpoint(of socket: UDPSocket) -> Endpoint {
    let entry = sockets[Int(socket.index)]
    return Endpoint(entry.address ?? .anyIPv4, port: entry.port)
  }

  /// Sends a datagram. Like the network, it tells the sender nothing: the trace says what became of it.
  ///
  /// A socket bound to any address sends from the first interface that is up and has an address of the destination's
  /// family, preferring one on the destination's own network. A closed socket sends nothing.
  public func send(_ datagram: RawSpan, from socket: UDPSocket, to destination: Endpoint, ecn: ECN = .notECT) {
    guard isOpen(socket) else { return }
    let entry = sockets[Int(socket.index)]
    let subject = hosts[entry.host.index].subject
    guard let (interface, address) = source(of: entry, to: destination.address) else {
      let from = Endpoint(entry.address ?? (destination.address.isIPv6 ? .anyIPv6 : .anyIPv4), port: entry.port)
      return fabric.send(
        datagram, from: from, to: destination, ecn: ecn, on: nil, loopback: nil, subject: subject)
    }
    let isLocal = self.interface(of: entry.host, owning: destination.address) != nil
    fabric.send(
      datagram, from: Endpoint(address, port: entry.port), to: destination, ecn: ecn, on: interface,
      loopback: isLocal ? entry.host : nil, subject: subject)
  }

  /// Hands a packet that reached the host to its socket.
  func deliver(_ slot: UInt32, to host: HostID) {
    let flight = fabric.flights[slot]
    let subject = hosts[host.index].subject
    guard !flight.failsChecksum else { return fabric.drop(slot, .corrupt, by: subject) }
    guard let index = socket(of: host, at: flight.destination) else {
      return fabric.drop(slot, .noSocket, by: subject)
    }
    trace.cause = fabric.packets.delivered(flight, to: subject)
    if let delegate = hosts[host.index].delegate {
      // The packet keeps its slot until it is released below, and a slot's bytes never move.
      delegate.received(
        fabric.pool.unsafeBytes(of: flight.handle).bytes,
        on: UDPSocket(index: index, serial: sockets[Int(index)].serial),
        path: Path(local: flight.destination, remote: flight.source, ecn: flight.ecn))
    }
    fabric.release(slot)
  }

  // MARK: Addresses

  /// The interface and address a datagram leaves by, or nil when there is no way.
  private func source(of entry: SocketEntry, to destination: IPAddress) -> (InterfaceID, IPAddress)? {
    if let address = entry.address {
      guard address.isIPv6 == destination.isIPv6, let interface = interface(of: entry.host, owning: address) else {
        return nil
      }
      return (interface, address)
    }
    var best: (InterfaceID, IPAddress)?
    for index in 0..<hosts[entry.host.index].interfaces.count {
      let id = hosts[entry.host.index].interfaces[index]
      let (isUp, network) = (fabric.interfaces[id.index].isUp, fabric.interfaces[id.index].network)
      guard isUp, let address = fabric.interfaces[id.index].addresses.first(where: { $0.isIPv6 == destination.isIPv6 })
      else { continue }
      if fabric.networks[network.index].contains(destination) { return (id, address) }
      if best == nil { best = (id, address) }
    }
    return best
  }

  private func interface(of host: HostID, owning address: IPAddress) -> InterfaceID? {
    for index in 0..<hosts[host.index].interfaces.count {
      let id = hosts[host.index].interfaces[index]
      if fabric.interfaces[id.index].addresses.contains(address) { return id }
    }
    return nil
  }

  // MARK: Ports

  /// The socket bound to exactly this address, or else to any.
  private func socket(of host: HostID, at endpoint: Endpoint) -> UInt32? {
    var candidate = hosts[host.index].ports[endpoint.port]
    var fallback: UInt32?
    while let index = candidate {
      let address = sockets[Int(index)].address
      if address == endpoint.address { return index }
      if address == nil { fallback = index }
      candidate = sockets[Int(index)].next
    }
    return fallback
  }

  private func isFree(_ port: UInt16, of host: HostID, _ address: IPAddress?) -> Bool {
    var taken = hosts[host.index].ports[port]
    while let index = taken {
      let other = sockets[Int(index)].address
      if other == nil || address == nil || other == address { return false }
      taken = sockets[Int(index)].next
    }
    return true
  }

  private func ephemeralPort(of host: HostID, _ address: IPAddress?) throws(SimulatorError) -> UInt16 {
    let first: UInt16 = 49_152
    let span = UInt64(UInt16.max - first) + 1
    let start = hosts[host.index].ephemeral.uniform(below: span)
    for step in 0..<span {
      let port = first + UInt16((start + step) % span)
      if isFree(port, of: host, address) { return port }
    }
    throw .portsExhausted
  }
}
