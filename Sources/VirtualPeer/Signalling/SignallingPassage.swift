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

  /// The ways out of the faults.
  struct Exit {
    /// Returns whether the connection can take the message.
    let isOpen: () -> Bool
    /// Sends the message; returns whether its connection took it.
    let deliver: (SignallingMessage) -> Bool
    let lost: () -> Void
  }

  let lane: SignallingFaults.Lane
  /// The place in the order in which messages came to the lane; copies share it.
  let number: Int
  let original: SignallingMessage
  let arrived: Instant
  let exit: Exit
  /// The first fault that it has not met.
  var nextFault: SignallingFaults.ID = 0
  var changes: [Change] = []
  /// The reorderings for which another has passed it.
  var reorderings: [SignallingFaults.ID] = []
  var duplications: [(duplication: Duplication, isCopy: Bool)] = []

  /// Every fault that counts when it leaves.
  var faults: [SignallingFaults.ID] { changes.map(\.fault) + reorderings + duplications.map(\.duplication.fault) }

  /// Whether it is a copy that a fault has added.
  var isCopy: Bool { duplications.contains(where: \.isCopy) }

  /// Whether its order matters: a ping does not tell of the order of messages.
  func passes(_ late: SignallingPassage) -> Bool {
    late.lane == lane && late.number < number && (original.content != nil || late.original.content == nil)
  }

  /// The greatest number of changes of which every subset is tried.
  private static let searchedChanges = 8

  /// Returns the fewest faults whose changes alone turn the original into what left, the oldest first. Of very many
  /// changes it returns those that are needed when the newer needless ones are left out.
  ///
  /// - Parameter unchanged: the text of the original as the codec writes it, which a change that is undone leaves.
  func faultsShown(by text: String, unchanged: String) -> [SignallingFaults.ID] {
    if changes.isEmpty || text == original.text || text == unchanged { return [] }
    let all = Array(changes.indices)
    if changes.count > Self.searchedChanges {
      return all.reversed().reduce(all) { kept, index in
        let fewer = kept.filter { $0 != index }
        return made(by: fewer) == text ? fewer : kept
      }.map { changes[$0].fault }
    }
    let subsets = (1..<1 << changes.count).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
    let fewest = subsets.lazy.map { subset in all.filter { subset & 1 << $0 != 0 } }.first { made(by: $0) == text }
    return (fewest ?? all).map { changes[$0].fault }
  }

  private func made(by chosen: [Int]) -> String { chosen.reduce(original) { changes[$1].make($0) }.text }
}
