/// Events of the timeline of a scenario.
package enum RunEvents {
  package static let fired = TraceEvent("timeline.fired", ("entry", String.self))
  package static let faultApplied = TraceEvent("fault.applied", ("entry", String.self), ("fault", String.self))
  package static let faultCleared = TraceEvent("fault.cleared", ("entry", String.self), ("fault", String.self))
}

/// Events of observers of a run. They change neither the hash nor the numbers of the world's events.
package enum HarnessEvents {
  /// Returns the event of a sample or a running total: `stats.…`, `q.…`, `wire.…`, `nat.…`.
  package static func sample<Value>(_ name: String, _ type: Value.Type) -> TraceEvent<Value> {
    TraceEvent(name, ("value", type), origin: .harness)
  }
  /// The listening quality of received audio, by its name in scenarios.
  public static let meanOpinionScore = sample("q.mos", Double.self)
  /// The share of concealed samples in received audio.
  public static let concealment = sample("q.concealment", Double.self)
  /// The delay from the remote microphone to this speaker.
  public static let mouthToEar = sample("q.mouth_to_ear", Interval.self)
  /// The time from the last fault to audible sound, after an interruption.
  public static let recovery = sample("q.recovery", Interval.self)
  /// Media crossed the wire unprotected.
  package static let cleartext = TraceEvent("cleartext", origin: .harness)
}
