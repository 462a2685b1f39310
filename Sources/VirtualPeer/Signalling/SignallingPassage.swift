internal import CallCore

/// The way of one message, or of a copy of it, through the faults, with what they have done to it.
///
/// But for losses and delays, a fault counts when the message leaves, and only if the message then shows what the fault
/// did: another fault may have taken it or written over the change since, or its connection may be over.
struct SignallingPassage {
  /// A change of the message by a fault. It gives the same result whenever it is made.
  struct Change {
    let fault: SignallingFaults.ID
    let make: (SignallingMessage) -> SignallingMessage
  }

  /// One duplication: it shows when both the message and the copy have left.
  final class Duplication {
    let fault: SignallingFaults.ID
    private var left: Set<Bool> = []

    init(fault: SignallingFaults.ID) { self.fault = fault }

    /// - Returns: whether both have left.
    func left(isCopy: Bool) -> Bool {
      left.insert(isCopy)
      return left.count == 2
    }
  }

  let lane: SignallingFaults.Lane
  /// The place in the order in which messages came to the lane; copies share it.
  let number: Int
  let original: SignallingMessage
  /// Sends the message; returns whether its connection took it.
  let deliver: (SignallingMessage) -> Bool
  let lost: () -> Void
  /// The first fault that it has not met.
  var nextFault: SignallingFaults.ID = 0
  /// The effects so far, fields by their names.
  var effects: Set<SignallingFault.Effect> = []
  var changes: [Change] = []
  /// The reorderings for which another has passed it.
  var reorderings: [SignallingFaults.ID] = []
  var duplications: [(duplication: Duplication, isCopy: Bool)] = []

  /// Every fault that counts when it leaves.
  var faults: [SignallingFaults.ID] { changes.map(\.fault) + reorderings + duplications.map(\.duplication.fault) }

  /// Whether its order matters: a ping does not tell of the order of messages.
  func passes(_ late: SignallingPassage) -> Bool {
    late.lane == lane && late.number < number && (original.content != nil || late.original.content == nil)
  }

  /// Above this number of changes to one message, each that made a difference counts.
  private static let searchedChanges = 8

  /// Returns the fewest faults whose changes alone turn the original into what left, the oldest first.
  func faultsShown(by result: SignallingMessage, isSame: (SignallingMessage, SignallingMessage) -> Bool)
    -> [SignallingFaults.ID]
  {
    if isSame(original, result) { return [] }
    guard changes.count <= Self.searchedChanges else { return changes.map(\.fault) }
    let subsets = (1..<1 << changes.count).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
    for subset in subsets {
      let chosen = changes.indices.filter { subset & 1 << $0 != 0 }
      let made = chosen.reduce(original) { changes[$1].make($0) }
      if isSame(made, result) { return chosen.map { changes[$0].fault } }
    }
    return []
  }
}
