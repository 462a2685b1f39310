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

  /// Returns whether a socket has not been closed.
  public func isOpen(_ socket: UDPSocket) -> Bool {
    sockets[Int(socket.index)].serial == socket.serial && sockets[Int(socket.index)].isOpen
  }

  /// Returns the address and port of the socket; an unspecified address if it is bound to any.
  public func localEndpoint(of socket: UDPSocket) -> Endpoint {
    let entry = sockets[Int(socket.index)]
    return Endpoint(entry.address ?? .anyIPv4, port: entry.port)
  }

  /// Sends a datagram. As in a real network, the sender gets no result: the trace contains it.
  ///
  /// A socket bound to any address sends from the first interface that is up and has an address of the destination's
  /// family, preferring one on the destination's own network. A closed socket sends nothing.
  public func send(_ datagram: RawSpan, from socket: UDPSocket, to destination: Endpoint, ecn: ECN = .notECT) {
    guard isOpen(socket) else { return }
    let entry = sockets[Int(socket.index)]
    let source = sourceAddress(of: entry.host, bound: entry.address, to: destination.address)
    let unspecified = destination.address.isIPv6 ? IPAddress.anyIPv6 : .anyIPv4
    let header = PacketHeader(
      source: Endpoint(source ?? entry.address ?? unspecified, port: entry.port), destination: destination, ecn: ecn)
    send(datagram, header, from: entry.host)
  }

  /// Puts a packet on the wire of the interface that has its source address.
  func send(_ payload: RawSpan, _ header: PacketHeader, from host: HostID) {
    let isLocal = interface(of: host, owning: header.destination.address) != nil
    let isPossible = header.source.address.isIPv6 == header.destination.address.isIPv6
    fabric.send(
      payload, header, from: host, on: isPossible ? interface(of: host, owning: header.source.address) : nil,
      isLoopback: isLocal, subject: hosts[host.index].subject)
  }

  /// Passes a packet that reached the host to its socket or stream.
  ///
  /// - Parameter interface: the interface of its arrival; nil for a packet that the host sent to itself.
  func deliver(_ slot: UInt32, to host: HostID, on interface: InterfaceID?) {
    let subject = hosts[host.index].subject
    // A packet that a rule drops here has not arrived.
    let treatment = treatment(of: slot, at: host)
    if treatment.isDropped { return fabric.drop(slot, .rule, by: subject) }
    if hosts[host.index].isSuspended, fabric.flights[slot].header.transport == .udp {
      return fabric.drop(slot, .suspended, by: subject)
    }
    if let interface { fabric.observe(slot, on: interface, .rx) }
    let flight = fabric.flights[slot]
    guard !flight.failsChecksum else { return fabric.drop(slot, .corrupt, by: subject) }
    let path = Path(local: flight.header.destination, remote: flight.header.source, ecn: flight.header.ecn)
    // The packet keeps its slot until it is released below, and a slot's bytes never move.
    let payload = fabric.pool.unsafeBytes(of: flight.handle).bytes
    if flight.header.transport == .tcp {
      trace.cause = fabric.packets.delivered(flight, to: subject)
      hosts[host.index].streamCause = trace.cause
      hosts[host.index].streams.receive(payload, on: path, from: flight.sender, at: fabric.now)
      drainStreams(of: host)
    } else if let index = socket(of: host, at: flight.header.destination) {
      trace.cause = fabric.packets.delivered(flight, to: subject)
      fabric.noteForgery(flight)
      let socket = UDPSocket(index: index, serial: sockets[Int(index)].serial)
      if let interface {
        for rule in treatment.forgeries { fabric.forge(after: slot, by: rule, to: host, on: interface) }
      }
      hosts[host.index].delegate?.received(payload, on: socket, path: path)
    } else if let bridge = hosts[host.index].bridge {
      trace.cause = fabric.packets.delivered(flight, to: subject)
      bridge.received(payload, flight.header)
    } else {
      return fabric.drop(slot, .noSocket, by: subject)
    }
    fabric.release(slot)
  }

  /// Returns what the rules make of a datagram at its receiver. The host itself drops one with a wrong checksum.
  private func treatment(of slot: UInt32, at host: HostID) -> PacketRules.Treatment {
    let flight = fabric.flights[slot]
    guard !fabric.rules.isEmpty, flight.header.transport == .udp, !flight.failsChecksum,
      flight.header.source != PacketForgery.source(isIPv6: flight.header.source.address.isIPv6)
    else { return PacketRules.Treatment() }
    return fabric.rules.treat(fabric.pool.unsafeBytes(of: flight.handle).bytes, from: flight.sender, to: host)
  }

  // MARK: Addresses

  /// Returns the source address: the bound one, or that of the first interface that is up and has one of the
  /// destination's family, preferring an interface on the destination's own network. Nil if there is none.
  func sourceAddress(of host: HostID, bound: IPAddress?, to destination: IPAddress) -> IPAddress? {
    if let bound { return bound }
    var best: IPAddress?
    for index in 0..<hosts[host.index].interfaces.count {
      let id = hosts[host.index].interfaces[index]
      let (isUp, network) = (fabric.interfaces[id.index].isUp, fabric.interfaces[id.index].network)
      guard isUp, let address = fabric.interfaces[id.index].addresses.first(where: { $0.isIPv6 == destination.isIPv6 })
      else { continue }
      if fabric.networks[network.index].contains(destination) { return address }
      if best == nil { best = address }
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

  /// Returns the socket bound to exactly this address, or else to any.
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
