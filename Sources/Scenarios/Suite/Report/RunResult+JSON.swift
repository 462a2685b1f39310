internal import CallCore
internal import ExternalRecords
package import Formats
internal import ScenarioJudge
public import ScenarioRun

/// The JSON form of a run's result: workers send it, `result.json` holds it and `--json` prints it.
extension RunResult {
  package var json: JSON {
    var members: [(String, JSON)] = [
      ("id", .string(id)), ("scenario", .string(scenarioID)),
    ]
    if let title { members.append(("title", .string(title))) }
    members += [
      ("path", .string(path)), ("seed", .unsigned(seed)), ("verdict", .string(verdict.rawValue)),
      ("findings", .array(findings.map(\.json))), ("measurements", .array(measurements.map(\.json))),
      ("traceHash", .string(Self.hexadecimal(traceHash))), ("eventCount", .unsigned(eventCount)),
      ("virtualNanoseconds", .integer(virtualDuration.nanoseconds)), ("cpuSeconds", .number(cpuSeconds)),
    ]
    if let realTime { members.append(("realTime", realTime.json)) }
    if let drops { members.append(("drops", drops.json)) }
    if !channel.isEmpty { members.append(("channel", .strings(channel.map(Self.hexadecimal)))) }
    return .object(members.map { JSON.Member($0.0, $0.1) })
  }

  /// Returns nil when a required member is missing or has another type.
  package init?(json: JSON) {
    guard let id = json["id"]?.string, let scenario = json["scenario"]?.string, let path = json["path"]?.string,
      let seed = json["seed"]?.unsigned, let verdict = json["verdict"]?.string.flatMap(Verdict.init),
      let findings = json["findings"]?.array, let measurements = json["measurements"]?.array,
      let hash = json["traceHash"]?.string.flatMap({ UInt64($0, radix: 16) }),
      let eventCount = json["eventCount"]?.unsigned, let duration = json["virtualNanoseconds"]?.integer
    else { return nil }
    self.init(
      id: id, scenarioID: scenario, title: json["title"]?.string, path: path, seed: seed, verdict: verdict,
      findings: findings.compactMap(Finding.init), measurements: measurements.compactMap(Measurement.init),
      traceHash: hash,
      eventCount: eventCount, virtualDuration: Interval(nanoseconds: duration),
      cpuSeconds: json["cpuSeconds"]?.real ?? 0)
    realTime = json["realTime"].flatMap(RealTimeRecord.init)
    drops = json["drops"].flatMap(BinnedSeries.init)
    channel = json["channel"]?.strings.compactMap { UInt64($0, radix: 16) } ?? []
    guard self.findings.count == findings.count else { return nil }
  }

  static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension RealTimeRecord {
  var json: JSON {
    [
      "reproducible": false, "maximumLagNanoseconds": .integer(maximumLag.nanoseconds),
      "latestNanoseconds": .integer(latest.nanoseconds), "usualLagNanoseconds": .integer(usualLag.nanoseconds),
      "waits": .array(waits.map(\.json)), "notJudged": .strings(notJudged),
    ]
  }

  init?(json: JSON) {
    guard let maximum = json["maximumLagNanoseconds"]?.integer, let usual = json["usualLagNanoseconds"]?.integer,
      let latest = json["latestNanoseconds"]?.integer
    else { return nil }
    self.init(
      maximumLag: Interval(nanoseconds: maximum), latest: Instant(nanoseconds: latest),
      usualLag: Interval(nanoseconds: usual), waits: json["waits"]?.array?.compactMap { .init(json: $0) } ?? [],
      notJudged: json["notJudged"]?.strings ?? [])
  }
}

extension WaitRecord.Entry {
  fileprivate var json: JSON {
    [
      "program": .string(program), "longestNanoseconds": .integer(longest.nanoseconds),
      "latestNanoseconds": .integer(latest.nanoseconds),
      "stoppedAtNanoseconds": stopped.map { .integer($0.nanoseconds) } ?? .null,
    ]
  }

  fileprivate init?(json: JSON) {
    guard let program = json["program"]?.string, let longest = json["longestNanoseconds"]?.integer,
      let latest = json["latestNanoseconds"]?.integer
    else { return nil }
    self.init(
      program: program, longest: Interval(nanoseconds: longest), latest: Instant(nanoseconds: latest),
      stopped: json["stoppedAtNanoseconds"]?.integer.map { Instant(nanoseconds: $0) })
  }
}

extension Finding {
  var json: JSON {
    var members: [(String, JSON)] = [("kind", .string(kind.rawValue)), ("title", .string(title))]
    if let location { members.append(("location", .string(location))) }
    members += [
      ("expected", .string(expected)), ("actual", .string(actual)), ("atNanoseconds", .integer(time.nanoseconds)),
      ("trail", .strings(trail)), ("faults", .strings(faults)), ("explanation", .strings(explanation)),
    ]
    if let why { members.append(("why", .string(why))) }
    members.append(("signature", .string(signature.text)))
    if let window {
      let ends = [window.lowerBound, window.upperBound]
      members.append(("windowNanoseconds", .array(ends.map { .integer($0.nanoseconds) })))
    }
    if let miss { members.append(("miss", miss.isFinite ? .number(miss) : .string(Self.never))) }
    return .object(members.map { JSON.Member($0.0, $0.1) })
  }

  init?(json: JSON) {
    guard let kind = json["kind"]?.string.flatMap(Kind.init), let title = json["title"]?.string,
      let expected = json["expected"]?.string, let actual = json["actual"]?.string,
      let time = json["atNanoseconds"]?.integer
    else { return nil }
    self.init(
      kind, title, location: json["location"]?.string, expected: expected, actual: actual,
      time: Instant(nanoseconds: time), trail: json["trail"]?.strings ?? [], faults: json["faults"]?.strings ?? [],
      explanation: json["explanation"]?.strings ?? [], why: json["why"]?.string,
      signature: json["signature"]?.string.map { FindingSignature(text: $0) })
    if let ends = json["windowNanoseconds"]?.array?.compactMap(\.integer), ends.count == 2, ends[0] <= ends[1] {
      window = Instant(nanoseconds: ends[0])...Instant(nanoseconds: ends[1])
    }
    miss = json["miss"]?.string == Self.never ? .infinity : json["miss"]?.real
  }

  /// The value for an infinite ``miss``, which JSON cannot express as a number.
  private static let never = "never"
}

extension Measurement {
  var json: JSON {
    var members: [JSON.Member] = [
      .init("id", .string(id)), .init("expected", .string(expected)),
      .init("measured", measured.map { .number($0) } ?? .null),
    ]
    if let time { members.append(.init("measuredNanoseconds", .integer(time.nanoseconds))) }
    if let opened { members.append(.init("openedNanoseconds", .integer(opened.nanoseconds))) }
    if let closed { members.append(.init("closedNanoseconds", .integer(closed.nanoseconds))) }
    if let course { members.append(.init("course", course.json)) }
    if !samples.isEmpty {
      members.append(
        .init("samples", .array(samples.flatMap { [.integer($0.time.nanoseconds), .number($0.value)] })))
    }
    return .object(members)
  }

  init?(json: JSON) {
    guard let id = json["id"]?.string, let expected = json["expected"]?.string else { return nil }
    self.init(
      id: id, expected: expected, measured: json["measured"]?.real,
      time: json["measuredNanoseconds"]?.integer.map { Interval(nanoseconds: $0) },
      opened: json["openedNanoseconds"]?.integer.map { Instant(nanoseconds: $0) },
      closed: json["closedNanoseconds"]?.integer.map { Instant(nanoseconds: $0) },
      course: json["course"].flatMap(ThinnedSeries.init))
    let row = json["samples"]?.array ?? []
    samples = stride(from: 1, to: row.count, by: 2).compactMap { index in
      guard let time = row[index - 1].integer, let value = row[index].real else { return nil }
      return Sample(time: Instant(nanoseconds: time), value: value)
    }
  }
}

extension RunResult {
  /// Reads a `result.json`.
  public init?(fileContents: [UInt8]) {
    guard let json = try? JSON(parsing: fileContents) else { return nil }
    self.init(json: json)
  }
}
