internal import CallCore

/// Writes the life of NAT mappings.
struct NATTrace {
  private let trace: Trace
  private let created: TraceKind
  private let removed: TraceKind
  private let remapped: TraceKind

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
  }

  func write(_ event: NATEvent, by subject: TraceSubject, cause: EventNumber) {
    switch event {
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

  private func transport(_ mapping: NATMapping) -> TraceValue {
    trace.value(mapping.transport == .udp ? "udp" : "tcp")
  }
}
