internal import ScenarioJudge
internal import ScenarioRun
public import ScenarioSearch

/// One failure of a campaign: the run that showed it.
public struct Occurrence: Hashable, Sendable {
  /// The number of the block.
  public var block: Int
  /// The number of the run within the block.
  public var number: Int
  /// The id of the varied cell.
  public var cellID: String
  /// The path of the varied file.
  public var path: String
  /// The seed of the run.
  public var seed: UInt64
  /// The variation of the cell.
  public var variation: Variation

  static func < (a: Occurrence, b: Occurrence) -> Bool { (a.block, a.number) < (b.block, b.number) }
}

/// The failures of a campaign with one signature.
public struct Bucket: Hashable, Sendable {
  /// The signature of the finding; see ``Finding/signature``.
  public var signature: String
  /// The check that was broken: an invariant, or `no-trap`.
  public var title: String
  /// The first failure as text.
  public var actual: String
  /// The number of runs that failed so.
  public var count: Int
  /// The first run that failed so.
  public var first: Occurrence
  /// The last one.
  public var last: Occurrence

  /// Adds the failures of another part of the campaign.
  mutating func add(_ other: Bucket) {
    count += other.count
    if other.first < first { (first, actual) = (other.first, other.actual) }
    if last < other.last { last = other.last }
  }
}

extension [Bucket] {
  /// Adds buckets; those with equal signatures become one. The order is that of the first failures.
  mutating func merge(_ others: [Bucket]) {
    for other in others {
      if let index = firstIndex(where: { $0.signature == other.signature }) {
        self[index].add(other)
      } else {
        append(other)
      }
    }
    sort { $0.first < $1.first }
  }
}

extension RunResult {
  /// The findings that a search looks for: the first of each broken invariant, and crashes. Expectations are those of
  /// the base.
  var searched: [Finding] {
    var titles: Set<String> = []
    return findings.filter { ($0.kind == .invariant || $0.kind == .crash) && titles.insert($0.title).inserted }
  }
}
