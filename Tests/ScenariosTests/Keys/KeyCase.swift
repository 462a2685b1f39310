import CallCore
import Profiles
import SimNet
import Testing

@testable import Scenarios

/// A scenario with a hole, and what may stand in the hole: each makes another run than the others.
struct KeyCase: Sendable, CustomTestStringConvertible {
  /// Where a value is put.
  static let hole = "<>"

  let site: String
  let template: String
  let values: [String]

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
    for entry in SuitePlan(files: [file], hash: 0, selection: SuiteSelection()).entries {
      let cell = entry.cell
      var ledger = SeedLedger()
      do {
        var outputs = RunOutputs()
        let bytes = PacketBytes()
        if isInside { outputs.tap = bytes }
        let result = try SingleRun(cell: cell, seed: 1, path: path, profiles: profiles).execute(outputs: outputs)
        parts.append("\(bytes.hash)")
        parts.append("\(cell.id) \(result.verdict)")
        if !isJudgement { parts.append("\(result.traceHash)") }
        parts += result.findings.map { "\($0.kind) \($0.actual) \($0.time)" }
        parts += result.contributions.map { "\($0.measured ?? -1)" }
        ledger.add(result)
        let together = ledger.close(entry, overrides: []).run?.result
        parts += together?.findings.map { "\($0.kind) \($0.actual)" } ?? []
      } catch {
        parts.append("cannot run: \(error)")
      }
    }
    self.text = parts.joined(separator: "\n")
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
