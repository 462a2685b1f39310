public import CallCore
public import ExternalRecords
public import ScenarioJudge
public import SimNet

/// What a run writes besides its result. Each receiver is nil when nobody wants it.
public struct RunOutputs {
  /// Sees every event as it is written.
  public var observers: [any TraceObserver] = []
  /// Sees every packet at every interface.
  public var tap: (any PacketTap)?
  /// Gets the DTLS secrets, line by line.
  public var keyLog: ((String) -> Void)?
  /// Gets what a peer's speaker played: 48 kHz mono.
  public var heard: ((_ peer: String, Span<Int16>) -> Void)?
  /// Gets what a program outside wrote, once it is gone.
  public var wrote: ((ProgramAccount) -> Void)?
  /// Gets what happened, when the run is over or could not go on.
  public var told: ((RunStory) -> Void)?
  /// Told once the world is built, before it starts: names of interfaces are known now.
  public var worldBuilt: ((Simulator) -> Void)?

  public init() {}
}
