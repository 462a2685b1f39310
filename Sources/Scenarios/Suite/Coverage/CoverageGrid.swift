internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import Vocabulary

/// The states of one machine against its events, with what is declared and what was seen.
struct CoverageGrid {
  /// The relation between the declaration and the runs.
  enum Mark: String, CaseIterable {
    case taken
    /// A declared transition that no run took.
    case neverTaken = "never-taken"
    /// A transition that is not declared: a defect of the app or of the declaration.
    case undeclared
    /// The event came in this state, and no transition followed.
    case stayed
    case blank
  }

  /// One event in one state.
  struct Cell {
    var mark = Mark.blank
    /// The transitions, or the events if there was no transition.
    var seen = SuiteCoverage.Seen()
    /// The events without a transition beside those with one.
    var stayed = SuiteCoverage.Seen()
  }

  /// One event in all states.
  struct Row {
    /// The event's name; of a machine without declared transitions, the state that is entered.
    let name: String
    /// The words for the origins of the event: `message`, `action`, `network`; empty for a cause that the app names.
    let kind: String
    var cells: [Cell]
  }

  /// The transition that the vocabulary declares, and its occurrences.
  struct Declared {
    let transition: StateMachine.Transition
    var seen = SuiteCoverage.Seen()
    /// The app's own words for the cause, with their numbers.
    var words: [(word: String, count: Int)] = []
  }

  let machine: StateMachine
  private(set) var rows: [Row] = []
  private(set) var declared: [Declared]
  /// The transitions that are not declared, in the order of their names.
  private(set) var undeclared: [(transition: RunCoverage.Transition, seen: SuiteCoverage.Seen)] = []

  /// Whether the machine declares its transitions, so that some can be missing.
  var isDeclared: Bool { !machine.transitions.isEmpty }

  /// The states that no run entered; the first one needs no entering.
  private(set) var unentered: [String] = []

  /// - Parameters:
  ///   - vocabulary: the profile of the machine.
  ///   - isMain: whether messages, actions and changes of the network are rows as well.
  init(_ machine: StateMachine, of vocabulary: ProfileVocabulary, isMain: Bool, _ coverage: SuiteCoverage.Profile) {
    self.machine = machine
    declared = machine.transitions.map { Declared(transition: $0) }
    let taken = coverage.transitions.all.filter { $0.element.machine == machine.name }
    for (transition, seen) in taken { add(transition, seen) }
    for (transition, seen) in coverage.illegal.all where transition.machine == machine.name {
      undeclared.append((transition, seen))
    }
    let entered = Set(taken.map(\.element.to) + machine.states.prefix(1).map(\.name))
    unentered = machine.states.map(\.name).filter { !entered.contains($0) }
    if isDeclared { addDeclaredRows(vocabulary) } else { addEnteredRows(taken) }
    if isMain { addEvents(vocabulary, coverage) }
    for (transition, seen) in undeclared {
      let row = rowIndex(transition.event, kind: "")
      mark(row, transition.from, .undeclared, seen)
    }
  }

  // MARK: Transitions

  /// Adds the occurrences of a transition to its declaration. The vocabulary allows a transition by its two states, so
  /// that the app's word for the cause may differ from the declared one.
  private mutating func add(_ transition: RunCoverage.Transition, _ seen: SuiteCoverage.Seen) {
    guard isDeclared else { return }
    let exact = declared.firstIndex {
      $0.transition.from == transition.from && $0.transition.to == transition.to
        && $0.transition.event == transition.event
    }
    let index =
      exact
      ?? declared.firstIndex { $0.transition.from == transition.from && $0.transition.to == transition.to }
    guard let index else {
      undeclared.append((transition, seen))
      return
    }
    declared[index].seen = declared[index].seen.and(seen)
    declared[index].words.append((transition.event, seen.count))
  }

  private mutating func addDeclaredRows(_ vocabulary: ProfileVocabulary) {
    for item in declared {
      let row = rowIndex(item.transition.event, kind: Self.kind(of: item.transition.event, in: vocabulary))
      mark(row, item.transition.from, item.seen.count > 0 ? .taken : .neverTaken, item.seen)
    }
  }

  /// Adds a row for each state: how often it was entered, and from where.
  private mutating func addEnteredRows(_ taken: [(element: RunCoverage.Transition, seen: SuiteCoverage.Seen)]) {
    let states = machine.states.map(\.name) + taken.flatMap { [$0.element.from, $0.element.to] }
    for state in states.inOrderOfAppearance { _ = rowIndex(state, kind: "") }
    for (transition, seen) in taken { mark(rowIndex(transition.to, kind: ""), transition.from, .taken, seen) }
  }

  // MARK: Events

  /// Adds messages, actions and changes of the network. A declared event of the same name has the same row.
  private mutating func addEvents(_ vocabulary: ProfileVocabulary, _ coverage: SuiteCoverage.Profile) {
    for message in vocabulary.messages where message.direction != .clientToServer {
      _ = rowIndex(message.name, kind: RunCoverage.EventKind.message.rawValue)
    }
    for action in vocabulary.actions + [CommonVocabulary.switchNetwork] {
      _ = rowIndex(action.name, kind: RunCoverage.EventKind.action.rawValue)
    }
    for (event, seen) in coverage.events.all where event.kind != .cause {
      let row = rowIndex(event.name, kind: event.kind.rawValue)
      mark(row, event.state, event.isFollowed ? .taken : .stayed, seen, isEvent: true)
    }
  }

  /// Returns the kind of the event that a declared word names.
  private static func kind(of word: String, in vocabulary: ProfileVocabulary) -> String {
    if vocabulary.message(word) != nil { return RunCoverage.EventKind.message.rawValue }
    return vocabulary.action(word) != nil ? RunCoverage.EventKind.action.rawValue : ""
  }

  // MARK: Cells

  private mutating func rowIndex(_ name: String, kind: String) -> Int {
    let known = rows.firstIndex { $0.name == name && ($0.kind == kind || kind.isEmpty || $0.kind.isEmpty) }
    if let known { return known }
    rows.append(Row(name: name, kind: kind, cells: machine.states.map { _ in Cell() }))
    return rows.count - 1
  }

  /// - Parameter isEvent: whether an event is counted that a declared transition of the same name has counted already.
  private mutating func mark(
    _ row: Int, _ state: String, _ mark: Mark, _ seen: SuiteCoverage.Seen, isEvent: Bool = false
  ) {
    guard let column = machine.states.firstIndex(where: { $0.name == state }) else { return }
    var cell = rows[row].cells[column]
    switch (cell.mark, mark) {
    case (.blank, _): (cell.mark, cell.seen) = (mark, seen)
    case (.taken, .taken) where isEvent: break
    case (.taken, .stayed), (.neverTaken, .stayed), (.undeclared, .stayed): cell.stayed = cell.stayed.and(seen)
    case (.stayed, .taken): (cell.mark, cell.stayed, cell.seen) = (.taken, cell.seen, seen)
    case (_, .undeclared): (cell.mark, cell.seen) = (.undeclared, seen)
    // Two declarations have one event: the cell tells of the missing one.
    case (.taken, .neverTaken), (.neverTaken, .taken): (cell.mark, cell.seen) = (.neverTaken, cell.seen.and(seen))
    default: cell.seen = cell.seen.and(seen)
    }
    rows[row].cells[column] = cell
  }
}

extension StateMachine {
  /// Returns the shortest way from the first state to another by declared transitions, of several the one that is
  /// declared first; nil if there is none.
  func path(to state: String) -> [Transition]? {
    guard let first = states.first?.name else { return nil }
    var paths: [(state: String, path: [Transition])] = [(first, [])]
    var next = 0
    while next < paths.count {
      let (current, path) = paths[next]
      if current == state { return path }
      next += 1
      for transition in transitions
      where transition.from == current && !paths.contains(where: { $0.state == transition.to }) {
        paths.append((transition.to, path + [transition]))
      }
    }
    return nil
  }
}
