package import Formats
internal import Foundation
internal import PeerSession
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// The machine-readable forms, with every sample, so that everything can be plotted again.
extension CompareReport {
  /// The comparison as one JSON object.
  package func json(_ environment: RunEnvironment) -> JSON {
    [
      "callsim": .string(environment.versionText),
      "seeds": .array(seeds.map { .unsigned($0) }),
      "material": material.map { .string(RunResult.hexadecimal($0)) } ?? .null,
      "processor": environment.processor.map { .string($0) } ?? .null,
      "processorFeatures": .strings(environment.processorFeatures),
      "libraries": .object(environment.libraries.map { JSON.Member($0.name, .string($0.version)) }),
      "confidence": .number(confidence), "method": "Student's t; differences paired by seed; Holm's correction",
      "points": .array(points.indices.map(json(ofPoint:))),
      "crossings": .array(crossings.map(Self.json)),
      "correlations": .array(references.flatMap(correlations(with:)).map(Self.json)),
    ]
  }

  private func json(ofPoint index: Int) -> JSON {
    let point = points[index]
    return [
      "id": .string(point.id), "path": .string(point.path),
      "variables": .object(point.assignments.map { JSON.Member($0.variable, .string($0.value)) }),
      "arms": .strings(point.arms.names),
      "changes": .object(zip(point.arms.names, point.arms.changes).map { JSON.Member($0, .string($1)) }),
      "baseline": .string(point.arms.baseline),
      "pairedBy": .string(point.arms.pairing.rawValue),
      "channel": point.channelDifference == nil ? .string(RunResult.hexadecimal(point.channelHash)) : .null,
      "notBeaten": .strings(notBeaten(at: index)), "verdict": bestLine(index).map { .string($0) } ?? .null,
      "gaps": .strings(point.gapTexts),
      "runs": .array(point.runs.map(Self.json)), "unscored": .strings(point.unscoredTexts),
      "opus": .object(point.arms.names.map { JSON.Member($0, .array(point.sentOpus(of: $0).map(\.json))) }),
      "notes": .strings(
        point.arms.names.compactMap { point.idleText($0) ?? point.twinText($0) } + CodecNotes(point).lines),
      "findings": .array(point.findings.map(\.json)),
      "numbers": .array(point.numbers.indices.map { json(ofNumber: $0, at: index) }),
    ]
  }

  private static func json(_ run: ArmComparison.Run) -> JSON {
    [
      "arm": .string(run.arm), "seed": .unsigned(run.seed), "verdict": .string(run.verdict.rawValue),
      "failures": .strings(run.failures), "warnings": .strings(run.warnings), "cpuSeconds": .number(run.cpuSeconds),
    ]
  }

  private func json(ofNumber number: Int, at index: Int) -> JSON {
    let point = points[index]
    let measured = point.numbers[number]
    let arms = point.arms.names.map { arm in
      let samples = (measured.samples[arm] ?? [:]).sorted { $0.key < $1.key }
      let estimate = measured.mean(of: arm, confidence: confidence)
      var members: [JSON.Member] = [
        .init("samples", .object(samples.map { JSON.Member("\($0.key)", .number($0.value)) })),
        .init("mean", samples.isEmpty ? .null : .number(estimate.mean)),
        .init("halfWidth", estimate.halfWidth.map { .number($0) } ?? .null),
      ]
      if let difference = difference(point: index, number: number, arm: arm) {
        members.append(.init("difference", Self.json(difference)))
      }
      return JSON.Member(arm, .object(members))
    }
    return [
      "name": .string(measured.name), "better": measured.better.map { .string($0.rawValue) } ?? .null,
      "arms": .object(arms),
    ]
  }

  private static func json(_ difference: Difference) -> JSON {
    let estimate = difference.estimate
    return [
      "mean": estimate.count == 0 ? .null : .number(estimate.mean),
      "halfWidth": estimate.halfWidth.map { .number($0) } ?? .null, "pairs": .integer(Int64(estimate.count)),
      "p": estimate.probability.map { .number($0) } ?? .null, "holm": .bool(difference.isCorrected),
    ]
  }

  private static func json(_ one: Correlation) -> JSON {
    [
      "reference": .string(one.reference), "number": .string(one.number), "count": .integer(Int64(one.count)),
      "spearman": one.spearman.map { .number($0) } ?? .null, "kendall": one.kendall.map { .number($0) } ?? .null,
    ]
  }

  private static func json(_ crossing: Crossing) -> JSON {
    [
      "path": .string(crossing.scenario), "variable": .string(crossing.variable), "number": .string(crossing.number),
      "arm": .string(crossing.arm), "baseline": .string(crossing.baseline), "from": .string(crossing.from),
      "to": .string(crossing.to), "near": .strings(crossing.near), "others": .string(crossing.others),
    ]
  }

  /// The samples as CSV (RFC 4180), one line each: scenario, variables, arm, seed, number, value.
  package var csv: String {
    var lines = ["point,arm,seed,verdict,number,value"]
    for point in points {
      for number in point.numbers {
        for run in point.runs {
          guard let value = number.samples[run.arm]?[run.seed] else { continue }
          let fields = [point.id, run.arm, "\(run.seed)", run.verdict.rawValue, number.name, "\(value)"]
          lines.append(fields.map(Self.field).joined(separator: ","))
        }
      }
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }

  private static func field(_ text: String) -> String {
    guard text.contains(where: { ",\"\r\n".contains($0) }) else { return text }
    return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }
}
