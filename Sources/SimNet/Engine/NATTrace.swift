internal import CallCore

/// Writes the life of NAT mappings.
struct NATTrace {
  private let trace: Trace
  private let created: TraceKind
  private let removed: TraceKind
  private let remapped: TraceKind
  private let blockTaken: TraceKind
  private let blockFreed: TraceKind

  init(_ trace: Trace) {
    self.trace = trace
    created = trace.declare(
      "nat.created", TraceField("protocol", .symbol), TraceField("internal", .endpoint),
      TraceField("external", .endpoint))
    removed = trace.declare(
      "nat.removed", TraceField("reason", .symbol), TraceField("protocol", .symbol),
      TraceField("internal", .endpoint), TraceField("external", .endpoint))
    remapped = trace.declare(
      "nat.remapped", TraceField("protocol", .symbol), TraceField("internal", .endpoint),
      TraceField("external", .endpoint), TraceField("previous", .endpoint))
    let block = [TraceField("host", .endpoint), TraceField("first", .endpoint), TraceField("size", .integer)]
    blockTaken = trace.declare("nat.block-taken", block[0], block[1], block[2])
    blockFreed = trace.declare("nat.block-freed", block[0], block[1], block[2])
  }

  func write(_ event: NATEvent, by subject: TraceSubject, cause: EventNumber) {
    switch event {
    case .blockTaken(let block): write(block, as: blockTaken, subject, cause)
    case .blockFreed(let block): write(block, as: blockFreed, subject, cause)
    case .created(let mapping):
      trace.write(
        created, subject, cause: cause, transport(mapping), trace.value(mapping.internal),
        trace.value(mapping.external))
    case .removed(let mapping, let reason):
      trace.write(
        removed, subject, cause: cause, trace.value(reason.name), transport(mapping), trace.value(mapping.internal),
        trace.value(mapping.external))
    case .remapped(let mapping, let previous):
      trace.write(
        remapped, subject, cause: cause, transport(mapping), trace.value(mapping.internal),
        trace.value(mapping.external), trace.value(previous))
    }
  }

  private func write(_ block: NATBlock, as kind: TraceKind, _ subject: TraceSubject, _ cause: EventNumber) {
    trace.write(
      kind, subject, cause: cause, trace.value(Endpoint(block.host, port: 0)),
      trace.value(Endpoint(block.address, port: block.ports.lowerBound)), .integer(block.ports.count))
  }

  private func transport(_ mapping: NATMapping) -> TraceValue {
    trace.value(mapping.transport == .udp ? "udp" : "tcp")
  }
}
