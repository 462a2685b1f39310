/// What the timeline of a scenario does.
package enum RunEvents {
  package static let fired = TraceEvent("timeline.fired", ("entry", String.self))
  package static let faultApplied = TraceEvent("fault.applied", ("entry", String.self), ("fault", String.self))
  package static let faultCleared = TraceEvent("fault.cleared", ("entry", String.self), ("fault", String.self))
}

/// What watches a run writes: its own notes, which change neither the hash nor the numbers of the world's events.
package enum HarnessEvents {
  /// A sample or a running total: `stats.…`, `q.…`, `wire.…`, `nat.…`.
  package static func sample<Value>(_ name: String, _ type: Value.Type) -> TraceEvent<Value> {
    TraceEvent(name, ("value", type), origin: .harness)
  }
  /// Quality of received audio, as scenarios name it.
  public static let meanOpinionScore = sample("q.mos", Double.self)
  public static let concealment = sample("q.concealment", Double.self)
  public static let mouthToEar = sample("q.mouth_to_ear", Interval.self)
  public static let recovery = sample("q.recovery", Interval.self)
  /// Media crossed the wire unprotected.
  package static let cleartext = TraceEvent("cleartext", origin: .harness)
}
