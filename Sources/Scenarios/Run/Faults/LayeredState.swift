/// A state of the world under faults: a base, and over it the change of every fault in force, in order of start.
///
/// No fault remembers what it found. When one begins or ends, the state is made anew from the base and those in force,
/// so each has its effect while it lasts, whatever ends meanwhile, and the base is back when the last has ended. Where
/// two set the same value, the one that began last decides.
final class LayeredState<State: Equatable> {
  typealias Change = (inout State) -> Void

  private let read: () throws -> State
  private let write: (State) throws -> Void
  /// The state without faults; known while there are any.
  private var base: State?
  /// What the world was last told.
  private var present: State?
  private var changes: [(fault: FaultID, change: Change)] = []

  /// - Parameters:
  ///   - read: what the world is like while no fault acts on it.
  ///   - write: makes the world so.
  init(read: @escaping () throws -> State, write: @escaping (State) throws -> Void) {
    self.read = read
    self.write = write
  }

  /// Lays a change over those in force; ``Layered/commit()`` makes the world so.
  func add(_ fault: FaultID, _ change: @escaping Change) throws {
    if base == nil {
      base = try read()
      present = base
    }
    changes.append((fault, change))
  }
}

/// A state that faults can be taken off, whatever it is a state of.
protocol Layered: AnyObject {
  /// Takes the change of a fault off.
  func remove(_ fault: FaultID)
  /// Makes the world what the base and the changes in force say.
  func commit() throws
}

extension LayeredState: Layered {
  func remove(_ fault: FaultID) { changes.removeAll { $0.fault == fault } }

  func commit() throws {
    guard var state = base else { return }
    for (_, change) in changes { change(&state) }
    if changes.isEmpty { base = nil }
    guard state != present else { return }
    present = state
    try write(state)
  }
}

/// One fault in force: an entry that fires again begins another.
struct FaultID: Hashable {
  let number: Int
}
