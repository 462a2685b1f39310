internal import CallCore
internal import Foundation
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// A check that a run broke, as a search tells failures apart.
public struct BrokenCheck: Hashable, Sendable {
  /// The signature of the finding; see ``Finding/signature``.
  public var signature: String
  /// The check: an invariant, an expectation, or `no-trap`.
  public var title: String
  /// The failure as text.
  public var actual: String

  /// A name for files and ids.
  public var name: String {
    let hash = String(FNV1a.hash(of: signature), radix: 16)
    let words = title.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    return "\(words.prefix(6).joined(separator: "-").lowercased())-\(hash.prefix(8))"
  }

  /// Whether the run did not come to its end within its limits: smaller ones would take as long.
  var isEndless: Bool { title == Self.endless }

  private static let endless = "endless"

  /// Whether two plays of one run differ, so that one play shows nothing.
  var needsTwoPlays: Bool { title == Self.determinism }

  private static let determinism = "determinism"
}

extension BrokenCheck {
  init(_ finding: Finding) {
    self.init(signature: finding.signature.text, title: finding.title, actual: finding.actual)
  }

  /// Makes the check that the death of a process breaks.
  init(_ death: WorkerProcess.Death, lastWords: [String]) {
    // The last words name the line that trapped; where they do not, all deaths of one kind are alike.
    let line = lastWords.first { $0.contains("Fatal error") }.map(Self.withoutValues) ?? death.description
    let title = FixedInvariant.noTrap.rawValue
    self.init(signature: "\(title) | \(line)", title: title, actual: "its process \(death.description)")
  }

  /// Returns the message of a trap without the values of the run: numbers and addresses after `Fatal error`.
  private static func withoutValues(_ line: String) -> String {
    guard let start = line.range(of: "Fatal error") else { return line }
    let message = line[start.lowerBound...].replacing(#/0x[0-9a-fA-F]+|[0-9]+/#, with: "#")
    return "\(line[..<start.lowerBound])\(message)"
  }

  /// Makes the check that two different plays of one run break.
  init(differing cellID: String) {
    self.init(
      signature: "\(Self.determinism) | \(cellID)", title: Self.determinism,
      actual: "a second play with the same seed had other events; see run --check-determinism")
  }

  /// Makes the check that a run of a cell beyond its limits breaks.
  init(endless cellID: String, _ actual: String) {
    self.init(signature: "\(Self.endless) | \(cellID)", title: Self.endless, actual: actual)
  }
}

extension JobOutcome {
  /// Returns the checks that a search looks for: the first failure of each invariant, crashes, and runs without an end.
  /// Expectations are those of the base.
  func brokenChecks(of cellID: String) -> [BrokenCheck] {
    switch self {
    case .result(let result):
      var titles: Set<String> = []
      let grave = result.findings.filter { $0.kind == .invariant || $0.kind == .crash }
      return grave.filter { titles.insert($0.title).inserted }.map { BrokenCheck($0) }
    case .crash(let death, _) where death.isFromOutside: return []
    case .crash(let death, let lastWords): return [BrokenCheck(death, lastWords: lastWords)]
    case .timeout, .oversize: return lack.map { [BrokenCheck(endless: cellID, $0)] } ?? []
    case .failure: return []
    }
  }

  /// Returns whether a run broke a check in the same way, whatever else it broke.
  func breaks(_ check: BrokenCheck) -> Bool {
    switch self {
    case .result(let result): result.findings.contains { $0.signature.text == check.signature }
    case .crash(let death, let lastWords): BrokenCheck(death, lastWords: lastWords).signature == check.signature
    case .failure, .timeout, .oversize: false
    }
  }
}
