extension Topology.Server {
  /// A transport and a port at which a server is asked.
  package struct Listener: Hashable, Sendable {
    package var transport: Transport
    package var port: UInt16
  }

  /// Where it listens: at the port its protocol is registered for, unless the scenario names others.
  package var listeners: [Listener] {
    transports.flatMap { transport in
      if transport == .tls { return [Listener(transport: .tls, port: UInt16(clamping: tls.port))] }
      let own = ports.filter { $0.transport == nil || $0.transport == transport }.map(\.number)
      // RFC 8489 section 8.1 and RFC 8656 section 2.
      let numbers = own.isEmpty ? [3_478] : own
      return numbers.map { Listener(transport: transport, port: $0) }
    }
  }

  /// Where a peer with these settings asks it.
  package func listeners(for ice: Scenario.ICESettings) -> [Listener] {
    kind == .turn ? listeners.filter { ice.uses($0.transport) } : listeners
  }

  /// The one port of a server of a product.
  package var signallingPort: UInt16 { ports.first?.number ?? 443 }
}
