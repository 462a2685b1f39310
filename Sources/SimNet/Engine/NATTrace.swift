internal import CallCore

/// Writes the events of NAT mappings.
struct NATTrace {
  let trace: Trace

  func write(_ event: NATEvent, by subject: TraceSubject, cause: EventNumber) {
    switch event {
    case .blockTaken(let block): write(block, as: NetworkEvents.portBlockTaken, subject, cause)
    case .blockFreed(let block): write(block, as: NetworkEvents.portBlockFreed, subject, cause)
    case .created(let mapping):
      trace.write(
        NetworkEvents.mappingCreated, subject, cause: cause, transport(mapping), mapping.internal, mapping.external)
    case .removed(let mapping, let reason):
      trace.write(
        NetworkEvents.mappingRemoved, subject, cause: cause, reason.name, transport(mapping), mapping.internal,
        mapping.external)
    case .remapped(let mapping, let previous):
      trace.write(
        NetworkEvents.mappingRemapped, subject, cause: cause, transport(mapping), mapping.internal, mapping.external,
        previous)
    }
  }

  private func write(
    _ block: NATBlock, as event: TraceEvent<Endpoint, Endpoint, Int>, _ subject: TraceSubject, _ cause: EventNumber
  ) {
    trace.write(
      event, subject, cause: cause, Endpoint(block.host, port: 0),
      Endpoint(block.address, port: block.ports.lowerBound), block.ports.count)
  }

  private func transport(_ mapping: NATMapping) -> String { mapping.transport == .udp ? "udp" : "tcp" }
}
