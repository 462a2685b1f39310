import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

@Suite struct LayeredStateTests {
  /// A state of three values, of which faults set some, and the work that it takes.
  private final class Bench {
    typealias State = [Int]

    private(set) var present = [0, 0, 0]
    private(set) var writes = 0
    /// How often a fault was asked to change a state.
    private(set) var changes = 0
    /// How often something happened that each value decides.
    var uses = [0, 0, 0]
    private(set) lazy var layered = LayeredState<State, [Int]>(
      read: { [unowned self] in present },
      write: { [unowned self] state in
        present = state
        writes += 1
      },
      measure: .init(
        tally: { [unowned self] in uses },
        shows: { step, earlier, later in
          step.after.indices.contains { index in step.changes { $0[index] } && later[index] > earlier[index] }
        }))

    func begin(_ number: Int, _ values: @escaping () -> [Int?]) throws {
      try layered.add(FaultID(number: number)) { [unowned self] state in
        changes += 1
        for (index, value) in values().enumerated() { state[index] = value ?? state[index] }
      }
      try layered.commit()
    }

    func end(_ numbers: some Sequence<Int>) throws {
      for number in numbers { layered.remove(FaultID(number: number)) }
      for _ in 0..<2 { try layered.commit() }
    }
  }

  @Test(arguments: [100, 1_000])
  func `a fault that begins again and again costs the same each time`(count: Int) throws {
    let bench = Bench()
    for number in 0..<count { try bench.begin(number) { [20, nil, nil] } }
    // Beside its own state each but the first is asked what it would do without the older ones.
    #expect(bench.changes == 2 * count - 1)
    #expect(bench.writes == 1)
    try bench.end(0..<count)
    #expect(bench.changes == 2 * count - 1)
    #expect(bench.present == [0, 0, 0])
  }

  @Test func `two that begin again and again in turn cost one change each time`() throws {
    let bench = Bench()
    for number in 0..<1_000 { try bench.begin(number) { [number % 2 + 1, nil, nil] } }
    #expect(bench.changes == 1_000)
    #expect(bench.writes == 1_000)
  }

  @Test func `what ends below others costs one change, where the next one hides it`() throws {
    let bench = Bench()
    try bench.begin(0) { [1, nil, nil] }
    for number in 1...100 { try bench.begin(number) { [number, nil, nil] } }
    let changes = bench.changes
    try bench.end([0])
    #expect(bench.changes == changes + 1)
    #expect(bench.present == [100, 0, 0])
  }

  /// What a state comes to that is made anew at every step.
  private struct Reference {
    struct Fault {
      let number: Int
      var values: [Int?]
    }

    var faults: [Fault] = []
    private(set) var changing: Set<Int> = []
    private(set) var met: Set<Int> = []
    private(set) var states: [[Int]] = [[0, 0, 0]]

    /// Each value was used.
    mutating func use(_ index: Int) {
      for (position, fault) in faults.enumerated()
      where states[position][index] != states[position + 1][index]
        && states[position + 1][index] == states[states.count - 1][index]
      {
        met.insert(fault.number)
      }
    }

    mutating func settle() {
      states = [[0, 0, 0]]
      for fault in faults {
        let below = states[states.count - 1]
        let state = zip(below, fault.values).map { $1 ?? $0 }
        states.append(state)
        if state != below { changing.insert(fault.number) }
      }
    }
  }

  @Test(arguments: 1...20)
  func `faults in any order make the state, and meet, what each is laid over`(seed: UInt64) throws {
    let bench = Bench()
    var reference = Reference()
    var random = RandomSource(seed: seed).stream("order")
    func number(_ limit: Int) -> Int { Int(random.uniform(below: UInt64(limit))) }
    final class Values { var of: [Int: [Int?]] = [:] }
    let values = Values()
    for step in 0..<400 {
      let some = (0..<3).map { _ in number(2) == 0 ? nil : number(3) }
      switch number(4) {
      case 0 where !reference.faults.isEmpty:
        let count = 1 + number(3)
        var ended: [Int] = []
        for _ in 0..<min(count, reference.faults.count) {
          ended.append(reference.faults.remove(at: number(reference.faults.count)).number)
        }
        try bench.end(ended)
      case 1 where !reference.faults.isEmpty:
        // One that changes by itself, as a flap does.
        let index = number(reference.faults.count)
        reference.faults[index].values = some
        values.of[reference.faults[index].number] = some
        bench.layered.changed(by: FaultID(number: reference.faults[index].number))
        try bench.layered.commit()
      case 2:
        let index = number(3)
        bench.uses[index] += 1
        reference.use(index)
        continue
      default:
        values.of[step] = some
        reference.faults.append(.init(number: step, values: some))
        try bench.begin(step) { values.of[step] ?? [] }
      }
      reference.settle()
      #expect(bench.present == reference.states.last)
    }
    for step in 0..<400 {
      let fault = FaultID(number: step)
      #expect(bench.layered.hasChanged(by: fault) == reference.changing.contains(step))
      #expect(bench.layered.hasMet(fault) == reference.met.contains(step), "\(step)")
    }
  }

  @Test func `a later fault shows in what its end changes, if nothing else has kept the change back`() throws {
    var (present, changes) = (0, 0)
    let layered = LayeredState<Int, Int>(
      read: { 0 },
      write: { state in
        // The device shows only whether anything is set.
        if (present == 0) != (state == 0) { changes += 1 }
        present = state
      }, measure: .init(tally: { changes }, shows: { $0.changes { $0 } && $2 > $1 }, countsEnds: true))
    let (older, later, inner) = (FaultID(number: 1), FaultID(number: 2), FaultID(number: 3))
    func end(_ fault: FaultID) throws {
      layered.remove(fault)
      try layered.commit()
    }
    try layered.add(older) { $0 = 1 }
    try layered.commit()
    try layered.add(later) { $0 = 2 }
    try layered.commit()
    try layered.add(inner) { $0 = 3 }
    try layered.commit()
    for fault in [inner, older, later] { try end(fault) }
    #expect(layered.hasMet(older) && layered.hasMet(later) && !layered.hasMet(inner))
  }
}
