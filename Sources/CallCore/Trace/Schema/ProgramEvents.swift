/// Events of an external program on the simulated network.
package enum ProgramEvents {
  /// `running` or `exited`.
  package static let state = TraceEvent("program.state", ("value", String.self))
  package static let exitCode = TraceEvent("program.exit-code", ("value", Int.self))
  package static let output = TraceEvent("program.output", ("line", String.self))
  /// The program's name for itself.
  package static let agent = TraceEvent("program.agent", ("name", String.self))
  package static let failed = TraceEvent("program.failed", ("reason", String.self))
  package static let frameDropped = TraceEvent("bridge.dropped", ("what", String.self), ("bytes", Int.self))
  package static let interfaces = TraceEvent("bridge.interfaces", ("state", String.self))
}
