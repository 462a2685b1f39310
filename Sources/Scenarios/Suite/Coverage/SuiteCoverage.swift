internal import ScenarioJudge

/// The coverage of all runs of a suite: how often each thing was seen, and in which run first.
struct SuiteCoverage {
  /// The occurrences of one thing.
  struct Seen: Equatable {
    var count = 0
    /// The name of the run with the first one, and the place of that run among all.
    var first = ""
    var order = Int.max

    mutating func add(_ number: Int, in run: String, order: Int) {
      if count == 0 { (first, self.order) = (run, order) }
      count += number
    }

    /// Returns the occurrences of two things together.
    func and(_ other: Seen) -> Seen {
      let earlier = order <= other.order ? self : other
      return Seen(count: count + other.count, first: earlier.first, order: earlier.order)
    }
  }

  /// The coverage of one profile.
  struct Profile {
    /// Sorted lists of what was seen, each element once.
    var transitions = SeenTable<RunCoverage.Transition>()
    var illegal = SeenTable<RunCoverage.Transition>()
    var events = SeenTable<RunCoverage.StateEvent>()
    var joint = SeenTable<RunCoverage.JointState>()
    var endCodes = SeenTable<String>()
    var errorCodes = SeenTable<String>()
    var sent = SeenTable<String>()
    var received = SeenTable<String>()
  }

  private var table: [String: Profile] = [:]
  private var runs = 0

  /// Adds a run. Runs must come in the order of the plan: it decides which of them is the first.
  mutating func add(_ coverage: RunCoverage, of run: String) {
    runs += 1
    for profile in coverage.profiles {
      var known = table[profile.name] ?? Profile()
      known.transitions.add(profile.transitions, in: run, order: runs)
      known.illegal.add(profile.illegal, in: run, order: runs)
      known.events.add(profile.events, in: run, order: runs)
      known.joint.add(profile.joint, in: run, order: runs)
      known.endCodes.add(profile.endCodes, in: run, order: runs)
      known.errorCodes.add(profile.errorCodes, in: run, order: runs)
      known.sent.add(profile.sent, in: run, order: runs)
      known.received.add(profile.received, in: run, order: runs)
      table[profile.name] = known
    }
  }

  /// Returns the coverage of a profile; nil if no peer of it ran.
  func profile(_ name: String) -> Profile? { table[name] }
}

/// What was seen, by name.
struct SeenTable<Element: Hashable & Sendable & Comparable> {
  private var table: [Element: SuiteCoverage.Seen] = [:]

  mutating func add(_ list: [RunCoverage.Counted<Element>], in run: String, order: Int) {
    for item in list { table[item.element, default: .init()].add(item.count, in: run, order: order) }
  }

  subscript(element: Element) -> SuiteCoverage.Seen { table[element] ?? .init() }

  /// All elements in their order.
  var all: [(element: Element, seen: SuiteCoverage.Seen)] {
    table.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  var count: Int { table.count }
}
