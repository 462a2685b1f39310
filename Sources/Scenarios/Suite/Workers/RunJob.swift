internal import CallCore
internal import Formats
internal import Foundation
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
public import ScenarioSearch

/// A run for a worker: the cell of a scenario, the seed, and the files to write.
public struct RunJob: Sendable, Equatable {
  /// The files that a worker writes.
  public enum Output: Sendable, Equatable {
    case nothing
    /// Writes all files into this folder.
    case artifacts(folder: String)
    /// Writes the trace alone to this file.
    case trace(file: String)
  }

  /// The scenario file and the files it uses.
  public var source: ScenarioSource
  /// The id of the cell.
  public var cellID: String
  /// The seed of the run.
  public var seed: UInt64
  /// The overrides of variables and peers.
  public var overrides: [ScenarioOverride]
  /// The files to write.
  public var output = Output.nothing
  /// Whether the story is wanted even if the run passes; runs that do not pass always have one.
  public var wantsStory = false
  /// The change of the scenario by a search; nil for the scenario as it is.
  public var variation: Variation?
  /// Whether the coverage of the profiles is wanted.
  package var wantsCoverage = false
  /// Whether a raw message is wanted for each that passed.
  var wantsMessages = false
  /// Whether the processor time of encoders and decoders is measured.
  var timesCodecs = false
  /// The programs that score what is heard.
  var scorers: [ExternalScorer] = []
  /// Whether the story of a run that does not pass is of no use either.
  var needsNoStory = false

  /// Describes a run.
  public init(
    source: ScenarioSource, cellID: String, seed: UInt64, overrides: [ScenarioOverride] = [], output: Output = .nothing
  ) {
    self.source = source
    self.cellID = cellID
    self.seed = seed
    self.overrides = overrides
    self.output = output
  }

  /// The path of the scenario file.
  public var path: String { source.path }
  /// The run's name, `id[var=value,…]#seed`.
  public var runID: String { "\(cellID)#\(seed)" }
}

extension RunJob {
  /// Returns the job as JSON.
  ///
  /// - Parameter hasFiles: whether the texts of the scenario are included; otherwise the reader must know them by their
  ///   hash.
  func json(hasFiles: Bool) -> JSON {
    var members: [JSON.Member] = [
      .init("source", .string(RunResult.hexadecimal(source.hash))), .init("cell", .string(cellID)),
      .init("seed", .unsigned(seed)),
      .init("set", .array(overrides.map { .strings([$0.name, $0.value]) })),
    ]
    switch output {
    case .nothing: break
    case .artifacts(let folder): members.append(.init("artifacts", .string(folder)))
    case .trace(let file): members.append(.init("trace", .string(file)))
    }
    if wantsStory { members.append(.init("story", .bool(true))) }
    if let variation { members.append(.init("variation", variation.json)) }
    if wantsCoverage { members.append(.init("coverage", .bool(true))) }
    if wantsMessages { members.append(.init("messages", .bool(true))) }
    if needsNoStory { members.append(.init("plain", .bool(true))) }
    if timesCodecs { members.append(.init("cpu", .bool(true))) }
    if !scorers.isEmpty { members.append(.init("scorers", .array(scorers.map(\.json)))) }
    if hasFiles { members.append(.init("files", .array(source.files.map(\.json)))) }
    return .object(members)
  }

  /// Reads a job.
  ///
  /// - Parameter known: the scenario to use when its texts were left out.
  init?(json: JSON, known: ScenarioSource? = nil) {
    guard let hash = json["source"]?.string, let cell = json["cell"]?.string, let seed = json["seed"]?.unsigned,
      let set = json["set"]?.array, let source = Self.source(in: json) ?? known,
      RunResult.hexadecimal(source.hash) == hash
    else { return nil }
    let overrides = set.compactMap { pair in
      pair.strings.count == 2 ? ScenarioOverride(name: pair.strings[0], value: pair.strings[1]) : nil
    }
    self.init(source: source, cellID: cell, seed: seed, overrides: overrides)
    wantsStory = json["story"] == true
    if let text = json["variation"] {
      guard let variation = Variation(json: text) else { return nil }
      self.variation = variation
    }
    wantsCoverage = json["coverage"] == true
    wantsMessages = json["messages"] == true
    needsNoStory = json["plain"] == true
    timesCodecs = json["cpu"] == true
    if let array = json["scorers"]?.array {
      scorers = array.compactMap { ExternalScorer(json: $0) }
      guard scorers.count == array.count else { return nil }
    }
    if let folder = json["artifacts"]?.string { output = .artifacts(folder: folder) }
    if let file = json["trace"]?.string { output = .trace(file: file) }
  }

  private static func source(in json: JSON) -> ScenarioSource? {
    guard let files = json["files"]?.array else { return nil }
    let known = files.compactMap { ScenarioSource.File(json: $0) }
    return known.count == files.count ? ScenarioSource(known) : nil
  }
}

extension ScenarioSource.File {
  fileprivate var json: JSON {
    switch contents {
    case .text(let text): .object([.init("path", .string(path)), .init("text", .string(text))])
    case .recording(let bytes):
      .object([.init("path", .string(path)), .init("base64", .string(Data(bytes).base64EncodedString()))])
    }
  }

  fileprivate init?(json: JSON) {
    guard let path = json["path"]?.string else { return nil }
    if let text = json["text"]?.string {
      self.init(path: path, text: text)
    } else if let bytes = json["base64"]?.string.flatMap({ Data(base64Encoded: $0) }) {
      self.init(path: path, recording: Array(bytes))
    } else {
      return nil
    }
  }
}

/// The reply of a worker to a job.
enum WorkerReply {
  case result(RunResult)
  /// The harness failed, so the run has no result.
  case failure(String)

  var json: JSON {
    switch self {
    case .result(let result):
      .object(
        [.init("result", result.json)] + (result.story.map { [.init("story", $0.json)] } ?? [])
          + (result.moveCount == 0 ? [] : [.init("moves", .integer(Int64(result.moveCount)))])
          + (result.unmetMove.map { [.init("unmet", .string($0))] } ?? [])
          + Self.numbers("choices", result.choices) + Self.numbers("features", result.features)
          + (result.coverage.map { [.init("coverage", $0.json)] } ?? [])
          + (result.codecLoad.map { [.init("cpu", .array([.number($0.encoding), .number($0.decoding)]))] } ?? [])
          + (result.isMediaReceived ? [.init("media", true)] : [])
          + (result.material.map { [.init("material", .unsigned($0))] } ?? [])
          + (result.receptions == Receptions() ? [] : [.init("receptions", result.receptions.json)])
          + Self.times("deeds", result.deeds)
          + Self.words("pictures", result.pictureSizes) + Self.words("formats", result.audioFormats)
          + Self.words("untaken", result.untakenFormats)
          + (result.sentOpus.isEmpty ? [] : [.init("opus", .array(result.sentOpus.map(\.json)))])
          + (result.scores.isEmpty ? [] : [.init("scores", .array(result.scores.map(\.json)))])
          + (result.messages.isEmpty ? [] : [.init("messages", .array(result.messages.map(\.json)))])
          + (result.course.map { [.init("course", $0.json)] } ?? []))
    case .failure(let message): .object([.init("error", .string(message))])
    }
  }

  private static func numbers(_ key: String, _ numbers: [UInt64]) -> [JSON.Member] {
    numbers.isEmpty ? [] : [.init(key, .array(numbers.map { .unsigned($0) }))]
  }

  private static func words(_ key: String, _ words: [String: [String]]) -> [JSON.Member] {
    let members = words.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .array($0.value.map { .string($0) })) }
    return members.isEmpty ? [] : [.init(key, .object(members))]
  }

  private static func words(_ json: JSON?) -> [String: [String]] {
    guard case .object(let members)? = json else { return [:] }
    let words = members.map { ($0.key, $0.value.array?.compactMap(\.string) ?? []) }
    return Dictionary(words, uniquingKeysWith: { old, _ in old })
  }

  private static func times(_ key: String, _ times: [String: Instant]) -> [JSON.Member] {
    let members = times.sorted { $0.key < $1.key }.map {
      JSON.Member($0.key, .integer(($0.value - Instant.zero).nanoseconds))
    }
    return members.isEmpty ? [] : [.init(key, .object(members))]
  }

  private static func times(_ json: JSON?) -> [String: Instant] {
    guard case .object(let members)? = json else { return [:] }
    let times = members.compactMap { member in
      member.value.integer.map { (member.key, Instant.zero + .nanoseconds($0)) }
    }
    return Dictionary(times, uniquingKeysWith: { old, _ in old })
  }

  init?(json: JSON) {
    if var result = json["result"].flatMap({ RunResult(json: $0) }) {
      result.story = json["story"].flatMap(RunStory.init)
      result.moveCount = json["moves"]?.integer.flatMap(Int.init(exactly:)) ?? 0
      result.unmetMove = json["unmet"]?.string
      result.choices = json["choices"]?.array?.compactMap(\.unsigned) ?? []
      result.features = json["features"]?.array?.compactMap(\.unsigned) ?? []
      result.coverage = json["coverage"].flatMap { RunCoverage(json: $0) }
      if let load = json["cpu"]?.array?.compactMap(\.real), load.count == 2 {
        result.codecLoad = RunResult.CodecLoad(encoding: load[0], decoding: load[1])
      }
      result.isMediaReceived = json["media"] == true
      result.material = json["material"]?.unsigned
      result.receptions = json["receptions"].map(Receptions.init) ?? Receptions()
      result.deeds = Self.times(json["deeds"])
      result.pictureSizes = Self.words(json["pictures"])
      result.audioFormats = Self.words(json["formats"])
      result.untakenFormats = Self.words(json["untaken"])
      result.sentOpus = json["opus"]?.array?.compactMap { SentOpus(json: $0) } ?? []
      result.scores = json["scores"]?.array?.compactMap { Score(json: $0) } ?? []
      result.messages = json["messages"]?.array?.compactMap { RawMessage(json: $0) } ?? []
      result.course = json["course"].map(RunCourse.init)
      self = .result(result)
    } else if let message = json["error"]?.string {
      self = .failure(message)
    } else {
      return nil
    }
  }
}

extension SentOpus {
  /// The JSON form, with bandwidths by their frequency.
  var json: JSON {
    [
      "peer": .string(peer), "askedForRedundancy": .integer(Int64(askedForRedundancy)),
      "withRedundancy": .integer(Int64(withRedundancy)),
      "packetsByHertz": .object(
        bandwidths.sorted { $0.key < $1.key }.map { JSON.Member("\($0.key)", .integer(Int64($0.value))) }),
    ]
  }

  fileprivate init?(json: JSON) {
    guard let peer = json["peer"]?.string, case .object(let members)? = json["packetsByHertz"] else { return nil }
    self.init(peer: peer)
    askedForRedundancy = json["askedForRedundancy"]?.integer.flatMap(Int.init(exactly:)) ?? 0
    withRedundancy = json["withRedundancy"]?.integer.flatMap(Int.init(exactly:)) ?? 0
    for member in members {
      guard let frequency = Int(member.key), let count = member.value.integer else { return nil }
      bandwidths[frequency] = Int(count)
    }
  }
}

extension Score {
  fileprivate var json: JSON {
    .object(
      [.init("scorer", .string(scorer)), .init("peer", .string(peer))]
        + (value.map { [.init("value", .number($0))] } ?? [])
        + (problem.map { [.init("problem", .string($0))] } ?? [])
        + (opened.map { [.init("opened", .integer(($0 - Instant.zero).nanoseconds))] } ?? [])
        + (closed.map { [.init("closed", .integer(($0 - Instant.zero).nanoseconds))] } ?? [])
        + (isOfPictures ? [.init("pictures", true)] : [])
        + (time.map { [.init("nanoseconds", .integer($0.nanoseconds))] } ?? []))
  }

  fileprivate init?(json: JSON) {
    guard let scorer = json["scorer"]?.string, let peer = json["peer"]?.string else { return nil }
    self.init(scorer: scorer, peer: peer, value: json["value"]?.real, problem: json["problem"]?.string)
    opened = json["opened"]?.integer.map { Instant.zero + .nanoseconds($0) }
    closed = json["closed"]?.integer.map { Instant.zero + .nanoseconds($0) }
    isOfPictures = json["pictures"] == true
    time = json["nanoseconds"]?.integer.map { Interval(nanoseconds: $0) }
  }
}

extension RawMessage {
  fileprivate var json: JSON {
    .object(
      [.init("type", .string(type)), .init("from", .string(from)), .init("to", .string(to))]
        + (server.map { [.init("server", .string($0))] } ?? [])
        + [.init("fields", .object(fields.entries.map { JSON.Member($0.name, $0.value.value.json) }))])
  }

  fileprivate init?(json: JSON) {
    guard let type = json["type"]?.string, let from = json["from"]?.string, let to = json["to"]?.string,
      case .object(let members)? = json["fields"]
    else { return nil }
    self.init(type: type, from: from, to: to)
    server = json["server"]?.string
    fields.entries = members.compactMap { member in Value(member.value).map { (member.key, Located($0)) } }
  }
}
