/// Finds references by sequence numbers alone: each delta frame refers to the one before it.
///
/// A frame's number is the sequence number of its last packet. Padding between frames leaves no gap.
struct SequenceReferenceFinder: Sendable {
  /// The frames since a key frame.
  private struct Group: Sendable {
    var key: Int64
    /// The last frame of the group.
    var last: Int64
    /// The last sequence number without a gap, with padding.
    var continuous: Int64
  }

  private var groups: [Group] = []
  private var padding = SortedSet(capacity: 100)
  /// The age in sequence numbers at which a group is forgotten, unless it is the last.
  private static let maximumAge: Int64 = 100

  mutating func find(_ frame: inout EncodedFrame) -> ReferenceDecision {
    let (first, last) = (frame.sequences.lowerBound, frame.sequences.upperBound)
    if frame.isKeyFrame, !groups.contains(where: { $0.key == last }) {
      let place = groups.firstIndex { $0.key > last } ?? groups.count
      groups.insert(Group(key: last, last: last, continuous: last), at: place)
    }
    guard !groups.isEmpty else { return .stash }
    while groups.count > 1, groups[1].key < last - Self.maximumAge { groups.removeFirst() }
    guard let index = groups.lastIndex(where: { $0.key <= last }) else { return .drop }
    if !frame.isKeyFrame {
      guard first - 1 == groups[index].continuous else { return .stash }
      frame.references.append(groups[index].last)
    }
    frame.id = last
    groups[index].last = max(groups[index].last, last)
    groups[index].continuous = max(groups[index].continuous, last)
    extend(index)
    return .handOff
  }

  mutating func insertPadding(_ sequence: Int64) {
    padding.removeAll(below: sequence - 100)
    padding.insert(sequence)
    if let index = groups.lastIndex(where: { $0.key <= sequence }) { extend(index) }
  }

  private mutating func extend(_ index: Int) {
    while padding.remove(groups[index].continuous + 1) { groups[index].continuous += 1 }
  }
}
