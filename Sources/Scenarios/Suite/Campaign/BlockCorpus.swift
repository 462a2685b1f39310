/// The runs of a block that showed something new, as their choices.
struct BlockCorpus: Sendable {
  struct Entry: Sendable {
    var base: Int
    var choices: [UInt64]
  }

  private(set) var entries: [Entry] = []
  private var features: Set<UInt64> = []

  /// The number of different features so far.
  var featureCount: Int { features.count }

  /// Keeps the choices if a run has a feature that no run of the block had before.
  mutating func add(_ choices: [UInt64], of base: Int, features new: [UInt64]) {
    var isNew = false
    for feature in new where features.insert(feature).inserted { isNew = true }
    if isNew, !choices.isEmpty { entries.append(Entry(base: base, choices: choices)) }
  }
}
