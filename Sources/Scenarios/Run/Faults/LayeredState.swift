/// A state of the world under faults: a base, and over it the change of every fault in force, in order of start.
///
/// No fault remembers what it found. When one begins or ends, the state is made anew from the base and those in force,
/// so each has its effect while it lasts, whatever ends meanwhile, and the base is back when the last has ended. Where
/// two set the same value, the one that began last decides.
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
    /// What it has been since the last commit; nil before the first.
    var step: FaultStep<State>?
  }

  private let read: () throws -> State
  private let write: (State) throws -> Void
  private let measure: Measure
  /// The state without faults; known while there are any.
  private var base: State?
  /// What the world was last told.
  private var present: State?
  private var layers: [Layer] = []
  /// The counts at the last commit.
  private var tally: Tally?
  /// The faults that have changed the state, those of whose change the world could be told, and those that have met
  /// something, also when they are over.
  private var changing: Set<FaultID> = []
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

  /// Lays a change over those in force; ``Layered/commit()`` makes the world so.
  func add(_ fault: FaultID, _ change: @escaping Change) throws {
    if base == nil {
      base = try read()
      present = base
    }
    layers.append(Layer(fault: fault, change: change))
  }

  /// Sees which faults have met something since the last commit.
  private func look() {
    guard let earlier = tally else { return }
    let later = measure.tally()
    for layer in layers where !met.contains(layer.fault) {
      guard let step = layer.step, step.isChange else { continue }
      if measure.lasts(step, earlier, later) { lasting.insert(layer.fault) }
      if measure.shows(step, earlier, later) { met.insert(layer.fault) }
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

  var isChange: Bool { before != after }

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
  /// Whether the fault has for some time made the state what it was, so that who is told of the state knew.
  func hasLasted(_ fault: FaultID) -> Bool
  /// Whether anything has been treated otherwise because of the fault.
  func hasMet(_ fault: FaultID) -> Bool
}

extension LayeredState: Layered {
  func remove(_ fault: FaultID) {
    look()
    layers.removeAll { $0.fault == fault }
  }

  func commit() throws {
    look()
    guard let base else { return }
    var states = [base]
    for layer in layers {
      var next = states[states.count - 1]
      layer.change(&next)
      states.append(next)
    }
    let state = states[states.count - 1]
    for index in layers.indices {
      let step = FaultStep(before: states[index], after: states[index + 1], present: state)
      layers[index].step = step
      if step.isChange { changing.insert(layers[index].fault) }
    }
    if layers.isEmpty { self.base = nil }
    // What the change itself does is done by the faults now in force.
    tally = measure.tally()
    guard state != present else { return }
    present = state
    try write(state)
  }

  func hasChanged(by fault: FaultID) -> Bool { changing.contains(fault) }

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
struct FaultID: Hashable {
  let number: Int
}
