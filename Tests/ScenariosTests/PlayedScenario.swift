import CallCore
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// Plays the first cell of a scenario that stands in a test.
func play(_ text: String, seed: UInt64 = 1, outputs: RunOutputs = RunOutputs()) throws -> RunResult {
  let profiles = ProfileCatalogue.builtIn
  let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: profiles.registry)
  let problems = loaded.report.rendered(as: .text(color: false))
  let file = try #require(loaded.scenario, "\(problems)")
  return try SingleRun(cell: file.cells[0], seed: seed, path: "test.yaml", profiles: profiles).execute(
    outputs: outputs)
}

/// Alice calls Bob, and hangs up after seven seconds.
let sevenSeconds = """
    - { at: 1s, do: alice.call, to: bob }
    - { at: 3s, do: bob.accept }
    - { id: bye, at: 10s, do: alice.hangup }
  """

/// Plays two phones at home with a timeline and expectations.
func play(_ rest: String = "", timeline: String, expect: String, network: String = "wifi") throws -> RunResult {
  try play(
    """
    callsim: 1
    id: test
    \(rest)
    peers:
      alice: { profile: knotos, network: \(network) }
      bob: { profile: knotos, network: \(network) }
    timeline:
    \(timeline)
    expect:
    \(expect)
    """)
}

/// Plays two phones at home with a timeline, judged by the invariants alone.
///
/// - Returns: the result, and the lines of the trace that are of some kinds.
func playJudgedByInvariants(timeline: String, lines kinds: [String] = []) throws -> (RunResult, lines: [String]) {
  let trace = TraceLines(kinds)
  var outputs = RunOutputs()
  outputs.observers = [trace]
  let result = try play(
    """
    callsim: 1
    id: test
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
    timeline:
    \(timeline)
    expect: invariants
    """, outputs: outputs)
  return (result, trace.lines)
}

/// The lines of a trace that are of some kinds: subject, kind and values.
final class TraceLines: TraceObserver {
  private let kinds: [String]
  private(set) var lines: [String] = []
  private(set) var times: [Instant] = []

  init(_ kinds: [String]) { self.kinds = kinds }

  func observe(_ record: TraceRecord, in trace: Trace) {
    let kind = trace.name(of: record.kind)
    guard kinds.contains(kind) else { return }
    let fields = trace.fields(of: record).map(\.value.description)
    lines.append(([trace.name(of: record.subject), kind] + fields).joined(separator: " "))
    times.append(record.time)
  }
}
