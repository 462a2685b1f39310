internal import CallCore
package import ScenarioFormat

extension Finding {
  /// Makes the finding about a result, or nil when a single run has none.
  ///
  /// - Parameter location: the location of the expectation, as `path:line:column`.
  package init?(_ result: ExpectationResult, location: String?) {
    let kind: Kind
    switch result.verdict {
    case .pass: return nil
    case .fail: kind = result.expectation.severity == .warn ? .warning : .expectation
    case .vacuous: kind = result.expectation.severity == .warn ? .warning : .vacuous
    case .shared: return nil
    }
    let miss = result.nearestMiss.map { "; nearest miss: \($0)" } ?? ""
    self.init(
      kind, result.expectation.text, location: location, expected: result.expected, actual: result.actual + miss,
      time: result.time, trail: result.trail, faults: result.faults, explanation: result.explanation,
      why: result.expectation.why, signature: FindingSignature(result.expectation.checkID, result.courses))
    window = result.window
    self.miss = result.verdict == .fail ? result.miss : nil
  }

  /// Returns the findings with the gravest first, because a one-line report shows only that; equal ones keep the order
  /// of the file.
  package static func byGravity(_ findings: [Finding]) -> [Finding] {
    let order: [Kind] = [.harness, .crash, .invariant, .expectation, .vacuous, .warning]
    return order.flatMap { kind in findings.filter { $0.kind == kind } }
  }

  package init(_ violation: Violation) {
    self.init(
      .invariant, violation.title, expected: violation.expected, actual: violation.actual, time: violation.time,
      trail: violation.trail, faults: violation.faults, explanation: violation.explanation,
      signature: violation.signature)
  }
}

extension Expectation {
  /// The name of the expectation in signatures.
  package var checkID: String { id.isEmpty ? text : id }
}
