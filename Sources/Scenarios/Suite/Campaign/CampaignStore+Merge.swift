internal import Foundation

extension CampaignStore {
  /// What folders hold together.
  public struct Merged: Sendable {
    /// The number of runs.
    public var runCount: Int
    /// The number of blocks that are done.
    public var blockCount: Int
    /// The findings, in the order of their first runs.
    public var buckets: [Bucket]
    /// The paths of blocks that could not be read: they are made again when the search goes on.
    public var unreadable: [String]
  }

  /// Adds the finished blocks and the findings of other folders of the same campaign. A block that both have is the same.
  ///
  /// - Throws: ``CampaignError`` if a folder is of another campaign or of none, or an error of a file.
  public func merge(_ others: [CampaignStore]) throws -> Merged {
    guard let plan else { throw CampaignError("\(root) holds no search; name a folder that --corpus has made") }
    for other in others {
      guard let their = other.plan else {
        throw CampaignError("\(other.root) holds no search; name a folder that --corpus has made")
      }
      guard their == plan else {
        throw CampaignError(
          "\(other.root) is not a share of the search in \(root): other files, seed, moves or version")
      }
    }
    let hash = Self.hash(of: plan)
    var unreadable: [String] = []
    var lengths: [Int: Int] = [:]
    var owners: [(bucket: Bucket, store: CampaignStore)] = []
    for store in [self] + others {
      let (records, broken) = store.records(of: hash)
      unreadable += broken
      for record in records {
        // A share that was made with fewer runs has a shorter last block.
        let isLonger = (lengths[record.block] ?? 0) < record.runCount
        if isLonger {
          lengths[record.block] = record.runCount
          if store.root != root { try write(record) }
        }
        owners += record.buckets.map { ($0, store) }
      }
    }
    let records = records(of: hash).records
    var buckets: [Bucket] = []
    for record in records { buckets.merge(record.buckets) }
    for bucket in buckets {
      // Each share has reduced its own first run; that of the whole search counts.
      let same = owners.filter {
        $0.bucket.check.signature == bucket.check.signature && $0.bucket.first == bucket.first
      }
      // This folder may have a block from an earlier merge, and not what its share has made of the finding since.
      let others = same.map(\.store).filter { $0.root != root }
      let reduced = others.first { $0.minimal(of: bucket) != nil }
      if let share = reduced ?? others.first { try copyFinding(bucket, from: share) }
    }
    return Merged(
      runCount: records.reduce(0) { $0 + $1.runCount }, blockCount: records.count, buckets: buckets,
      unreadable: unreadable)
  }

  private func copyFinding(_ bucket: Bucket, from other: CampaignStore) throws {
    for name in ["original.yaml", "minimal.yaml"] {
      guard let data = FileManager.default.contents(atPath: "\(other.root)/findings/\(bucket.check.name)/\(name)")
      else {
        continue
      }
      try write(String(decoding: data, as: UTF8.self), as: name, of: bucket)
    }
  }
}
