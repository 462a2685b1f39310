public import CallCore
public import ExternalRecords
package import PeerSession
package import ScenarioFormat
public import ScenarioJudge
public import SimNet

/// The receivers of a run's outputs besides its result. A receiver is nil if the output is not wanted.
public struct RunOutputs {
  /// Receive every event as it is written.
  public var observers: [any TraceObserver] = []
  /// Receives every packet at every interface.
  public var tap: (any PacketTap)?
  /// Receives the DTLS secrets, line by line.
  public var keyLog: ((String) -> Void)?
  /// Receives the audio that a peer's speaker played: 48 kHz mono.
  public var heard: ((_ peer: String, Span<Int16>) -> Void)?
  /// Receives every picture of real media that a peer shows, with the trace subject of its connection.
  package var shown: ((RenderedVideoFrame, _ connection: String) -> Void)?
  /// Receives a file that a peer's app has recorded, with its name.
  public var recorded: ((_ name: String, _ bytes: [UInt8]) -> Void)?
  /// Receives the output of an external program after its exit.
  public var wrote: ((ProgramAccount) -> Void)?
  /// Receives the story when the run has ended or failed.
  public var told: ((RunStory) -> Void)?
  /// Receives the simulator after the world is built and before it starts: the names of interfaces are known then.
  public var worldBuilt: ((Simulator) -> Void)?

  /// Receives what each peer hears of real media over its only connection, beside what was said: 48 kHz mono.
  package var compared: ((_ peer: String, _ piece: HeardPiece) -> Void)?
  /// Receives every picture that another peer's camera takes, beside what a peer sees in its place over its only connection;
  /// of real media.
  package var seen: ((_ peer: String, PicturePair) -> Void)?
  /// The part of the run of which ``compared`` and ``seen`` tell.
  package var comparedWindow = Window()

  /// Whether the processor time of encoders and decoders is measured.
  package var timesCodecs = false
  /// Whether the result is to hold the coverage of the profiles.
  package var wantsCoverage = false
  /// Whether the result is to hold a raw message for each that passed, and the course of the run.
  package var wantsMessages = false

  /// Makes outputs without receivers.
  public init() {}
}
