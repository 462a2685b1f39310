/// What happens to a program of somebody else's that sits on the simulated network.
public enum ProgramEvents {
  /// `running` or `exited`.
  public static let state = TraceEvent("program.state", ("value", String.self))
  public static let exitCode = TraceEvent("program.exit-code", ("value", Int.self))
  public static let output = TraceEvent("program.output", ("line", String.self))
  /// What the program calls itself.
  public static let agent = TraceEvent("program.agent", ("name", String.self))
  public static let failed = TraceEvent("program.failed", ("reason", String.self))
  public static let frameDropped = TraceEvent("bridge.dropped", ("what", String.self), ("bytes", Int.self))
  public static let interfaces = TraceEvent("bridge.interfaces", ("state", String.self))
}
