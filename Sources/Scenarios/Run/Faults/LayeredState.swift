/// A state of the world under faults: a base, with the change of every fault in force applied in order of start.
///
/// Faults do not save the state they find. When one begins or ends, the state is recomputed from the base and the
/// faults in force, so each has its effect while it lasts, whichever others end meanwhile, and the base is restored
/// after the last. If two faults set the same value, the one that began last decides. Layers below the first change are
/// not recomputed, nor are those above a layer whose result is unchanged: a fault that begins repeatedly costs the same
/// each time, however many are in force.
///
/// The state also records which faults have met anything. Between two changes each fault is a ``FaultStep`` of this
/// state, and the world counts (`Tally`) the work of each of its parts; ``Measure/shows`` decides whether a step shows
/// in the counts.
final class LayeredState<State: Equatable, Tally> {
  typealias Change = (inout State) -> Void

  /// The measure of this state's effects.
  struct Measure {
    /// Returns the counts so far.
    let tally: () -> Tally
    /// Returns whether anything was treated differently because of the step, between the earlier count and the later
    /// one.
    let shows: (_ step: FaultStep<State>, _ earlier: Tally, _ later: Tally) -> Bool
    /// Returns whether the step determined the state for some time, which matters to hosts that are told of the state.
    var lasts: (_ step: FaultStep<State>, _ earlier: Tally, _ later: Tally) -> Bool = { _, _, _ in false }
    /// Whether what changes when a fault ends shows that it had an effect: it kept a device from what it does then.
    var countsEnds = false
  }

  private struct Layer {
    let fault: FaultID
    let change: Change
    /// The state including this layer, as of the last commit; nil before the first.
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
  /// The state without faults; nil while there are none.
  private var base: State?
  /// The state of the world after the last commit.
  private var present: State?
  /// The layers, in order of start.
  private var layers: [Layer] = []
  /// The first and the last fault whose layers have begun, ended or changed since the last commit.
  private var unsettled: ClosedRange<FaultID>?
  private var ended: Set<FaultID> = []
  /// The candidates as of the last commit, in order of start.
  private var candidates: [Candidate] = []
  /// The candidates that have ended since the last commit.
  private var leaving: [Candidate] = []
  /// The counts at the last commit.
  private var tally: Tally?
  /// The faults that have changed the state, including those that are over.
  private var changing: Set<FaultID> = []
  /// The faults that would have changed the state if an older one had not made the same change.
  private var forestalled: Set<FaultID> = []
  /// The faults that have determined the state for some time, including those that are over.
  private var lasting: Set<FaultID> = []
  /// The faults that have met something, including those that are over.
  private var met: Set<FaultID> = []

  /// Starts without faults.
  ///
  /// - Parameters:
  ///   - read: returns the state of the world while no fault acts on it.
  ///   - write: changes the world to a state.
  init(read: @escaping () throws -> State, write: @escaping (State) throws -> Void, measure: Measure) {
    self.read = read
    self.write = write
    self.measure = measure
  }

  /// Adds the change of a fault above those in force; ``Layered/commit()`` applies it to the world. Faults are numbered
  /// in the order in which they begin.
  func add(_ fault: FaultID, _ change: @escaping Change) throws {
    if base == nil {
      base = try read()
      present = base
    }
    layers.append(Layer(fault: fault, change: change))
    unsettle(fault)
  }

  /// Notes that the change of a fault has become a different one; ``Layered/commit()`` applies it to the world.
  func changed(by fault: FaultID) { unsettle(fault) }

  private func unsettle(_ fault: FaultID) {
    guard let range = unsettled else { return unsettled = fault...fault }
    unsettled = min(range.lowerBound, fault)...max(range.upperBound, fault)
  }

  /// Recomputes the state from the first layer that may differ up to the last that does.
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

  /// Finds the faults that have met something since the last commit.
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

/// The change of one fault to a state, with other faults in force.
struct FaultStep<State: Equatable> {
  /// The state with the faults that began earlier.
  let before: State
  /// The state with this fault, too.
  let after: State
  /// The state with the later faults, too.
  let present: State

  /// Returns whether this fault, and none that began later, determined the value.
  func changes<Value: Equatable>(_ value: (State) -> Value) -> Bool {
    value(before) != value(after) && value(present) == value(after)
  }
}

/// A state of any type that faults can be removed from.
protocol Layered: AnyObject {
  /// Removes the change of a fault.
  func remove(_ fault: FaultID)
  /// Applies the base and the changes in force to the world.
  func commit() throws
  /// Returns whether the fault has ever changed the state.
  func hasChanged(by fault: FaultID) -> Bool
  /// Returns whether an older fault has ever made the change of this fault before it.
  func isForestalled(_ fault: FaultID) -> Bool
  /// Returns whether the fault has determined the state for some time, so that hosts were told of it.
  func hasLasted(_ fault: FaultID) -> Bool
  /// Returns whether anything has been treated differently because of the fault.
  func hasMet(_ fault: FaultID) -> Bool
}

extension LayeredState: Layered {
  func remove(_ fault: FaultID) {
    look()
    if measure.countsEnds { leaving += candidates.filter { $0.fault == fault } }
    candidates.removeAll { $0.fault == fault }
    ended.insert(fault)
    unsettle(fault)
  }

  func commit() throws {
    look()
    guard let base else { return }
    // What changes now is due to one fault alone if no other begins, ends or changes.
    let isAlone = ended.count == 1 && unsettled.map { $0.lowerBound == $0.upperBound } ?? false
    settle(over: base)
    let state = layers.last?.state ?? base
    if layers.isEmpty { self.base = nil }
    // Effects of the change itself are attributed to the faults now in force.
    tally = measure.tally()
    defer { leaving = [] }
    guard let before = present, let tally, state != before else { return }
    present = state
    try write(state)
    lookAtEnd(from: before, to: state, since: tally, isAlone: isAlone)
  }

  /// Finds a fault that met something as it ended: nothing but its change has gone, and that showed.
  private func lookAtEnd(from before: State, to state: State, since earlier: Tally, isAlone: Bool) {
    for candidate in leaving where isAlone || candidate.before == state && candidate.after == before {
      let step = FaultStep(before: state, after: before, present: before)
      if measure.shows(step, earlier, measure.tally()) { met.insert(candidate.fault) }
    }
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

/// The identity of one fault in force: an entry that fires again begins another.
struct FaultID: Hashable, Comparable {
  let number: Int

  static func < (a: FaultID, b: FaultID) -> Bool { a.number < b.number }
}
