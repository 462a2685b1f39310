import CallCore
import Profiles
import SimNet
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// A scenario with a hole, and what may stand in the hole: each makes another run than the others.
struct KeyCase: Sendable, CustomTestStringConvertible {
  /// Where a value is put.
  static let hole = "<>"

  let site: String
  let template: String
  let values: [String]
  /// Whether the values are an entry of the timeline and, before it, a mark in its place: then the runs have to differ
  /// beyond what the timeline says of itself.
  var isEffect = false

  var testDescription: String { "\(site): \(values.joined(separator: " | "))" }

  init(_ site: String, _ values: [String], _ template: String) {
    self.site = site
    self.template = template
    self.values = values
  }

  /// Every word that the key may have.
  init(words site: String, _ template: String) {
    self.init(site, DeclaredKeys.words(of: site), template)
  }

  /// A key there and not there: `text` is the key with its value, put behind another key of a flow mapping.
  init(_ site: String, with text: String, _ template: String) { self.init(site, ["", ", " + text], template) }

  /// Something that the timeline does, and a mark in its place.
  ///
  /// - Parameter template: where the entry is put. The run is of one length, whatever the entry asks for.
  init(effect site: String, at time: String, _ what: String, _ template: String) {
    let isLong = template.contains("id: t\n")
    precondition(isLong, "the world of \(site) has another id")
    self.init(
      site, ["  - { mark: \(Self.entry), at: \(time) }", "  - { id: \(Self.entry), at: \(time), \(what) }"],
      template.replacing("id: t\n", with: "id: t\nrun: 45s\n"))
    isEffect = true
  }

  /// The name of the entry whose effect is looked for.
  static let entry = "entry"

  func text(_ value: String) -> String { template.replacing(Self.hole, with: value) }
}

/// What a scenario file comes to: what was read, and the run of each cell to the last event and finding.
struct Fingerprint {
  let text: String
  let isRefused: Bool

  /// - Parameter isJudgement: looks at what was found only, because to watch more is to trace more.
  /// - Parameter isInside: looks at the bytes of packets too, where no length tells of what they hold.
  init(of text: String, isJudgement: Bool = false, isInside: Bool = false) {
    let profiles = ProfileCatalogue.builtIn
    let path = FormatTest.folder + "Valid/t.yaml"
    let loaded = ScenarioFile.load(text: text, path: path, registry: profiles.registry)
    guard let file = loaded.scenario else {
      self.text = loaded.report.rendered(as: .text(color: false))
      isRefused = true
      return
    }
    isRefused = false
    var parts = ["\(file.id) \(file.seeds.all)"]
    var arms = ArmLedger()
    for entry in SuitePlan(files: [file], hash: 0, selection: SuiteSelection()).entries {
      // A difference between arms needs several pairs.
      for seed in entry.cell.scenario.arms == nil ? [1] : [1, 2, 3] as [UInt64] {
        do {
          parts += try Self.run(entry, seed, path, profiles, isJudgement: isJudgement, isInside: isInside, &arms)
        } catch {
          parts.append("cannot run: \(error)")
        }
      }
    }
    if let comparison = arms.comparison {
      parts += comparison.findings.map { "\($0.kind) \($0.actual)" }
      parts += [CompareText(CompareReport([comparison]), style: .plain).text, "\(comparison.isPrecise)"]
    }
    self.text = parts.joined(separator: "\n")
  }

  private static func run(
    _ entry: SuitePlan.Entry, _ seed: UInt64, _ path: String, _ profiles: ProfileCatalogue, isJudgement: Bool,
    isInside: Bool, _ arms: inout ArmLedger
  ) throws -> [String] {
    var ledger = SeedLedger()
    var outputs = RunOutputs()
    let bytes = PacketBytes()
    if isInside { outputs.tap = bytes }
    let result = try SingleRun(cell: entry.cell, seed: seed, path: path, profiles: profiles).execute(outputs: outputs)
    var parts = ["\(bytes.hash)", "\(entry.cell.id) \(result.verdict)"]
    if !isJudgement { parts.append("\(result.traceHash)") }
    parts += result.findings.map { "\($0.kind) \($0.actual) \($0.time)" }
    parts += result.measurements.map { "\($0.measured ?? -1)" }
    ledger.add(result)
    arms.add(result, of: entry)
    let together = ledger.close(entry, overrides: []).run?.result
    return parts + (together?.findings.map { "\($0.kind) \($0.actual)" } ?? [])
  }
}

/// A hash over every byte at every interface.
private final class PacketBytes: PacketTap {
  private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  func added(_ interface: InterfaceID, name: String) {}

  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection,
    isDamaged: Bool, at now: Instant
  ) {
    for index in 0..<payload.byteCount {
      let byte = payload.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
  }
}

/// What a run does, but for what the timeline says of itself and what a user is said to do.
struct WorldPrint {
  let hash: UInt64
  /// What came of the entry otherwise than it says.
  let findings: [String]

  init(of text: String) throws {
    let profiles = ProfileCatalogue.builtIn
    let path = FormatTest.folder + "Valid/t.yaml"
    let loaded = ScenarioFile.load(text: text, path: path, registry: profiles.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    let cell = try #require(SuitePlan(files: [file], hash: 0, selection: SuiteSelection()).entries.first).cell
    let (events, bytes) = (WorldEvents(), PacketBytes())
    var outputs = RunOutputs()
    outputs.tap = bytes
    outputs.observers = [events]
    let result = try SingleRun(cell: cell, seed: 1, path: path, profiles: profiles).execute(outputs: outputs)
    hash = events.hash ^ bytes.hash
    findings = result.findings.filter { $0.title == "timeline entry '\(KeyCase.entry)'" }.map(\.actual)
  }
}

/// A hash over the events of the world and what they say, without what says alone that a fault or a user has acted.
/// Numbers of events count those of the timeline, too.
private final class WorldEvents: TraceObserver {
  private static let announcements: Set = [
    RunEvents.fired.name, RunEvents.faultApplied.name, RunEvents.faultCleared.name, PeerEvents.action.name,
    PeerEvents.actionRefused.name, NetworkEvents.linkSettings.name, NetworkEvents.linkState.name,
    NetworkEvents.interfaceState.name, ServerEvents.messageFaulted.name,
  ]

  private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  func observe(_ record: TraceRecord, in trace: Trace) {
    let kind = trace.name(of: record.kind)
    guard !Self.announcements.contains(kind) else { return }
    var text = "\(record.time.nanoseconds) \(trace.name(of: record.subject)) \(kind)"
    for field in trace.fields(of: record) { text += " \(field.value)" }
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
