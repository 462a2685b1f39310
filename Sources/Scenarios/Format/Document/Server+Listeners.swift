extension Topology.Server {
  /// A transport and a port on which a server listens.
  package struct Listener: Hashable, Sendable {
    package var transport: Transport
    package var port: UInt16
  }

  /// The listeners: on the registered port of the protocol, unless the scenario names others.
  package var listeners: [Listener] {
    transports.flatMap { transport in
      if transport == .tls { return [Listener(transport: .tls, port: UInt16(clamping: tls.port))] }
      let own = ports.filter { $0.transport == nil || $0.transport == transport }.map(\.number)
      // The default port is that of RFC 8489 section 8.1 and RFC 8656 section 2.
      let numbers = own.isEmpty ? [3_478] : own
      return numbers.map { Listener(transport: transport, port: $0) }
    }
  }

  /// Returns the listeners that a peer with these settings uses.
  package func listeners(for ice: Scenario.ICESettings) -> [Listener] {
    kind == .turn ? listeners.filter { ice.uses($0.transport) } : listeners
  }

  /// The single port of a signalling server.
  package var signallingPort: UInt16 { ports.first?.number ?? 443 }
}
