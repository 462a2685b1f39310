public import ScenarioSearch

/// One failure of a campaign: the run that showed it.
public struct Occurrence: Hashable, Sendable, Comparable {
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

  public static func < (a: Occurrence, b: Occurrence) -> Bool { (a.block, a.number) < (b.block, b.number) }
}

/// The failures of a campaign with one signature.
public struct Bucket: Hashable, Sendable {
  /// The check that was broken, as in the first run.
  public var check: BrokenCheck
  /// The number of runs that failed so.
  public var count: Int
  /// The first run that failed so.
  public var first: Occurrence
  /// The last one.
  public var last: Occurrence

  /// Adds the failures of another part of the campaign.
  mutating func add(_ other: Bucket) {
    count += other.count
    if other.first < first { (first, check) = (other.first, other.check) }
    if last < other.last { last = other.last }
  }
}

extension [Bucket] {
  /// Adds buckets; those with equal signatures become one. The order is that of the first failures.
  mutating func merge(_ others: [Bucket]) {
    for other in others {
      if let index = firstIndex(where: { $0.check.signature == other.check.signature }) {
        self[index].add(other)
      } else {
        append(other)
      }
    }
    // One run may break several checks.
    sort { ($0.first, $0.check.signature) < ($1.first, $1.check.signature) }
  }
}
