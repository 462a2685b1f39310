internal import CallCore
internal import Formats
internal import Foundation
internal import ScenarioFormat

/// The folder of a campaign: what was planned, the blocks that are done, and the findings.
///
/// - `campaign.json`: the plan, which a resumed campaign must match
/// - `blocks/000012.json`: one finished block
/// - `findings/NAME/original.yaml` and `minimal.yaml`: the first run of a bucket, and what is left of it after reduction
/// - `regressions/NAME.yaml`: findings of earlier versions, and files that people put there; they are played first
public struct CampaignStore: Sendable {
  /// The path of the folder.
  public let root: String

  /// Names a folder, which need not exist.
  public init(root: String) { self.root = root }

  private var blocks: String { root + "/blocks" }

  // MARK: Writing

  /// Returns the hash of a plan: blocks say of which one they are.
  static func hash(of plan: JSON) -> UInt64 { FNV1a.hash(of: plan.description) }

  func prepare(_ plan: JSON) throws(FileError) {
    try makeFolder(blocks)
    try makeFolder(root + "/findings")
    try write(plan.description + "\n", to: root + "/campaign.json")
  }

  /// Writes a block, unless the folder has a longer one, of a search with more runs.
  func write(_ record: BlockRecord) throws(FileError) {
    let old = read(path(ofBlock: record.block)).flatMap(BlockRecord.init)
    if let old, old.plan == record.plan, old.runCount > record.runCount, old.problems.isEmpty { return }
    try write(record.json.description + "\n", to: path(ofBlock: record.block))
  }

  /// Writes a file of a finding.
  ///
  /// - Returns: its path.
  @discardableResult
  func write(_ text: String, as name: String, of bucket: Bucket) throws(FileError) -> String {
    let folder = folder(of: bucket)
    try makeFolder(folder)
    try write(text, to: "\(folder)/\(name)")
    return "\(folder)/\(name)"
  }

  private func makeFolder(_ path: String) throws(FileError) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw FileError(path: path, reason: String(cString: strerror(errno)))
    }
  }

  /// Writes a file under another name first: a file of this name is always whole.
  private func write(_ text: String, to path: String) throws(FileError) {
    // Two processes may write the same file: the node of one was lost, and its share was begun again elsewhere.
    let draft = "\(path).\(ProcessInfo.processInfo.globallyUniqueString).draft"
    try RunArtifacts.write(text, to: draft)
    guard rename(draft, path) == 0 else { throw FileError(path: path, reason: String(cString: strerror(errno))) }
  }

  /// Makes a folder whose campaign was that of another version ready for this one: its findings become regressions,
  /// which no campaign removes, and its blocks are made again.
  func retire() throws(FileError) {
    try makeFolder(regressions)
    for name in files(in: root + "/findings") {
      let folder = "\(root)/findings/\(name)"
      let all = ["minimal.yaml", "original.yaml"].map { "\(folder)/\($0)" }
      let there = all.filter { FileManager.default.fileExists(atPath: $0) }
      // A file that is there already is one that people may have changed.
      let kept = "\(regressions)/\(name).yaml"
      if let smallest = there.first, !FileManager.default.fileExists(atPath: kept) {
        guard rename(smallest, kept) == 0 else { throw FileError(path: kept, reason: String(cString: strerror(errno))) }
      }
      for path in there { unlink(path) }
      // Only where nothing else is in it.
      rmdir(folder)
    }
    for name in files(in: blocks) where name.hasSuffix(".json") { try remove("\(blocks)/\(name)") }
  }

  /// Removes a file: one that stayed would count as done.
  private func remove(_ path: String) throws(FileError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw FileError(path: path, reason: String(cString: strerror(errno)))
    }
  }

  // MARK: Reading

  private var regressions: String { root + "/regressions" }

  /// The paths of the scenario files in the folder `regressions`.
  var regressionPaths: [String] {
    files(in: regressions).filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.map { "\(regressions)/\($0)" }
  }

  private func files(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// The plan of the campaign in the folder; nil if there is none.
  var plan: JSON? { read(root + "/campaign.json") }

  /// Returns the finished blocks of a plan, in order, and the paths of files that are none.
  func records(of plan: UInt64) -> (records: [BlockRecord], unreadable: [String]) {
    var records: [BlockRecord] = []
    var unreadable: [String] = []
    for name in files(in: blocks) where name.hasSuffix(".json") {
      if let record = read("\(blocks)/\(name)").flatMap(BlockRecord.init), record.plan == plan {
        records.append(record)
      } else {
        unreadable.append("\(blocks)/\(name)")
      }
    }
    return (records, unreadable)
  }

  /// Returns the path of a finding's reduced file; nil if it has none yet.
  public func minimal(of bucket: Bucket) -> String? {
    let path = folder(of: bucket) + "/minimal.yaml"
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  private func read(_ path: String) -> JSON? {
    FileManager.default.contents(atPath: path).flatMap { try? JSON(parsing: Array($0)) }
  }

  private func path(ofBlock block: Int) -> String {
    let digits = "\(block)"
    return "\(blocks)/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).json"
  }

  /// The folder is named after the broken check and the signature's hash: names of peers and states do not matter to
  /// file systems.
  private func folder(of bucket: Bucket) -> String { "\(root)/findings/\(bucket.check.name)" }
}
