/// A state of the world under faults: a base, and over it the change of every fault in force, in order of start.
///
/// No fault remembers what it found. When one begins or ends, the state is made anew from the base and those in force,
/// so each has its effect while it lasts, whatever ends meanwhile, and the base is back when the last has ended. Where
/// two set the same value, the one that began last decides. What lies below the first of them that changed is not made
/// anew, and neither is what lies above one that comes to the same as before: a fault that begins again and again costs
/// the same each time, however many are in force.
///
/// It also knows which faults have met anything. Between two changes each fault is a ``FaultStep`` of this state, and
/// the world keeps counts (`Tally`) of what each part of it has done; whether a step shows in the counts is for
/// ``Measure/shows`` to say.
final class LayeredState<State: Equatable, Tally> {
  typealias Change = (inout State) -> Void

  /// How the effects of this state are counted.
  struct Measure {
    /// What has been counted so far.
    let tally: () -> Tally
    /// Whether anything was treated otherwise because of the step, from the earlier count to the later one.
    let shows: (_ step: FaultStep<State>, _ earlier: Tally, _ later: Tally) -> Bool
    /// Whether the step made the state what it was for some time, which matters to who is told of the state.
    var lasts: (_ step: FaultStep<State>, _ earlier: Tally, _ later: Tally) -> Bool = { _, _, _ in false }
  }

  private struct Layer {
    let fault: FaultID
    let change: Change
    /// The state with it, as of the last commit; nil before the first.
    var state: State?
  }

  /// A layer that changes the state and has met nothing yet.
  private struct Candidate {
    let fault: FaultID
    let before: State
    let after: State
  }

  private let read: () throws -> State
  private let write: (State) throws -> Void
  private let measure: Measure
  /// The state without faults; known while there are any.
  private var base: State?
  /// What the world was last told.
  private var present: State?
  /// In order of start.
  private var layers: [Layer] = []
  /// The faults between which layers have begun, ended or changed since the last commit, those two included.
  private var unsettled: ClosedRange<FaultID>?
  private var ended: Set<FaultID> = []
  /// As of the last commit, in order of start.
  private var candidates: [Candidate] = []
  /// The counts at the last commit.
  private var tally: Tally?
  /// The faults that have changed the state, those of whose change the world could be told, and those that have met
  /// something, also when they are over.
  private var changing: Set<FaultID> = []
  /// The faults that would have changed the state, had not an older one done the same.
  private var forestalled: Set<FaultID> = []
  private var lasting: Set<FaultID> = []
  private var met: Set<FaultID> = []

  /// - Parameters:
  ///   - read: what the world is like while no fault acts on it.
  ///   - write: makes the world so.
  init(read: @escaping () throws -> State, write: @escaping (State) throws -> Void, measure: Measure) {
    self.read = read
    self.write = write
    self.measure = measure
  }

  /// Lays the change of a fault over those in force; ``Layered/commit()`` makes the world so. Faults are numbered in the
  /// order in which they begin.
  func add(_ fault: FaultID, _ change: @escaping Change) throws {
    if base == nil {
      base = try read()
      present = base
    }
    layers.append(Layer(fault: fault, change: change))
    unsettle(fault)
  }

  /// Says that the change of a fault is another one from now on; ``Layered/commit()`` makes the world so.
  func changed(by fault: FaultID) { unsettle(fault) }

  private func unsettle(_ fault: FaultID) {
    guard let range = unsettled else { return unsettled = fault...fault }
    unsettled = min(range.lowerBound, fault)...max(range.upperBound, fault)
  }

  /// Makes the state anew from the first layer on that may be another one, up to where nothing changes any more.
  private func settle(over base: State) {
    guard let range = unsettled else { return }
    unsettled = nil
    let first = layers.lastIndex { $0.fault < range.lowerBound }.map { $0 + 1 } ?? 0
    if !ended.isEmpty {
      let kept = layers[first...].filter { !ended.contains($0.fault) }
      layers.replaceSubrange(first..., with: kept)
      ended = []
    }
    var below = first == 0 ? base : layers[first - 1].state ?? base
    var found: [Candidate] = []
    var index = first
    while index < layers.count {
      let layer = layers[index]
      var state = below
      layer.change(&state)
      if below == state {
        if below != base, isChange(layer.change, of: base) { forestalled.insert(layer.fault) }
      } else {
        changing.insert(layer.fault)
        if !met.contains(layer.fault) { found.append(Candidate(fault: layer.fault, before: below, after: state)) }
      }
      let isSettled = layer.fault > range.upperBound && layer.state == state
      layers[index].state = state
      below = state
      index += 1
      if isSettled { break }
    }
    let start = candidates.lastIndex { $0.fault < range.lowerBound }.map { $0 + 1 } ?? 0
    var end = candidates.count
    if index < layers.count { end = candidates.firstIndex { $0.fault >= layers[index].fault } ?? end }
    candidates.replaceSubrange(start..<max(start, end), with: found)
  }

  private func isChange(_ change: Change, of base: State) -> Bool {
    var state = base
    change(&state)
    return state != base
  }

  /// Sees which faults have met something since the last commit.
  private func look() {
    guard let earlier = tally, let present, !candidates.isEmpty else { return }
    let later = measure.tally()
    candidates.removeAll { candidate in
      let step = FaultStep(before: candidate.before, after: candidate.after, present: present)
      if measure.lasts(step, earlier, later) { lasting.insert(candidate.fault) }
      guard measure.shows(step, earlier, later) else { return false }
      met.insert(candidate.fault)
      return true
    }
  }
}

/// What one fault does to a state while others do something, too.
struct FaultStep<State: Equatable> {
  /// With the faults that began earlier.
  let before: State
  /// With this one over them.
  let after: State
  /// With the later ones, too.
  let present: State

  /// Whether this fault, and none that began later, made the value what it is.
  func changes<Value: Equatable>(_ value: (State) -> Value) -> Bool {
    value(before) != value(after) && value(present) == value(after)
  }
}

/// A state that faults can be taken off, whatever it is a state of.
protocol Layered: AnyObject {
  /// Takes the change of a fault off.
  func remove(_ fault: FaultID)
  /// Makes the world what the base and the changes in force say.
  func commit() throws
  /// Whether the fault has at any time made the state other than it would have been.
  func hasChanged(by fault: FaultID) -> Bool
  /// Whether an older fault has at any time done what the fault says.
  func isForestalled(_ fault: FaultID) -> Bool
  /// Whether the fault has for some time made the state what it was, so that who is told of the state knew.
  func hasLasted(_ fault: FaultID) -> Bool
  /// Whether anything has been treated otherwise because of the fault.
  func hasMet(_ fault: FaultID) -> Bool
}

extension LayeredState: Layered {
  func remove(_ fault: FaultID) {
    look()
    candidates.removeAll { $0.fault == fault }
    ended.insert(fault)
    unsettle(fault)
  }

  func commit() throws {
    look()
    guard let base else { return }
    settle(over: base)
    let state = layers.last?.state ?? base
    if layers.isEmpty { self.base = nil }
    // What the change itself does is done by the faults now in force.
    tally = measure.tally()
    guard state != present else { return }
    present = state
    try write(state)
  }

  func hasChanged(by fault: FaultID) -> Bool { changing.contains(fault) }

  func isForestalled(_ fault: FaultID) -> Bool { forestalled.contains(fault) }

  func hasLasted(_ fault: FaultID) -> Bool {
    look()
    return lasting.contains(fault)
  }

  func hasMet(_ fault: FaultID) -> Bool {
    look()
    return met.contains(fault)
  }
}

/// One fault in force: an entry that fires again begins another.
struct FaultID: Hashable, Comparable {
  let number: Int

  static func < (a: FaultID, b: FaultID) -> Bool { a.number < b.number }
}
