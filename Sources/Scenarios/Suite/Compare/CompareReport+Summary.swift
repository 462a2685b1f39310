internal import CallCore
internal import ScenarioFormat

/// What a report says of all its runs, and of the arms at a point.
extension CompareReport {
  /// The seeds of all runs, sorted.
  package var seeds: [UInt64] { Set(points.flatMap(\.seeds)).sorted() }

  /// A hash over what devices had to encode in all runs; nil where media are modelled.
  package var material: UInt64? {
    let hashes = Set(points.filter(\.hasRealMedia).flatMap(\.runs).compactMap(\.material)).sorted()
    guard !hashes.isEmpty else { return nil }
    var whole = FNV1a()
    for hash in hashes { whole.mix(word: hash) }
    return whole.value
  }

  /// The arms of a point that no other beats, and those of which that cannot be said; nil where arms can gain nothing.
  func bestLine(_ index: Int) -> String? {
    guard hasScores(at: index) else { return nil }
    let point = points[index]
    let best = notBeaten(at: index)
    let complete = point.completeArms
    guard !best.isEmpty else {
      return complete.count > 1
        ? "no arm is judged: no difference of two arms has a probability"
        : "no arm is judged: " + (complete.isEmpty ? "none has" : "only \(complete[0]) has")
          + " all numbers in all runs"
    }
    let others = point.arms.names.filter { !complete.contains($0) }
    let isOfAll = best.count == complete.count
    let line = isOfAll ? "none is beaten by another" : "not beaten: \(best.joined(separator: ", "))"
    return others.isEmpty
      ? line : "\(line), of the arms with all numbers; not judged: \(others.joined(separator: ", "))"
  }
}
