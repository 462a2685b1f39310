internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// The coverage of a suite beside the declarations of its profiles, for display.
package struct CoverageReport {
  /// A number of things out of those that are declared.
  struct Share: Equatable {
    var reached: Int
    var declared: Int

    var text: String { "\(reached) of \(declared)" }
  }

  /// A declared code or message with its occurrences.
  struct Item {
    let name: String
    let summary: String
    let seen: SuiteCoverage.Seen
  }

  /// A declared transition that no run took.
  struct Missing {
    let machine: String
    let transition: StateMachine.Transition
    /// The shortest way from the first state to the transition's source; nil if no declared one leads there.
    let path: [StateMachine.Transition]?
  }

  /// The coverage of one profile.
  struct Profile {
    let name: String
    /// The grids of the profile's machines, the main one first, and those of its peer connections.
    let machines: [CoverageGrid]
    let connections: [CoverageGrid]
    let endCodes: [Item]
    let errorCodes: [Item]
    /// The messages that peers send, and those that only servers send, which peers receive.
    let messages: [Item]
    /// The combinations of main states of all peers of the profile in one run.
    let jointStates: Int

    var missing: [Missing] {
      machines.flatMap { grid in
        grid.declared.filter { $0.seen.count == 0 }.map {
          Missing(
            machine: grid.machine.name, transition: $0.transition, path: grid.machine.path(to: $0.transition.from))
        }
      }
    }

    var transitions: Share {
      let all = machines.flatMap(\.declared)
      return Share(reached: all.count { $0.seen.count > 0 }, declared: all.count)
    }
  }

  package private(set) var runs: Int
  /// The runs that did not pass, with the word for their verdict.
  private(set) var notPassed: [(id: String, verdict: String)]
  /// The number of runs without a coverage: they crashed, took too long or could not be made.
  private(set) var runsWithoutCoverage: Int
  package private(set) var notRun: Int
  /// The peers of the cells that are puppets or programs.
  private(set) var peersWithoutCoverage: Int
  let profiles: [Profile]

  init(_ coverage: SuiteCoverage, vocabularies: [ProfileVocabulary], totals: CoverageReporter.Totals) {
    runs = totals.runs
    notPassed = totals.notPassed
    runsWithoutCoverage = totals.runsWithoutCoverage
    notRun = totals.notRun
    peersWithoutCoverage = totals.peersWithoutCoverage
    profiles = vocabularies.compactMap { vocabulary in
      coverage.profile(vocabulary.profile).map { Profile(vocabulary, $0) }
    }
  }
}

extension CoverageReport.Profile {
  init(_ vocabulary: ProfileVocabulary, _ coverage: SuiteCoverage.Profile) {
    name = vocabulary.profile
    machines = vocabulary.machines.enumerated().map { index, machine in
      CoverageGrid(machine, of: vocabulary, isMain: index == 0, coverage)
    }
    let counted = CoverageCollector.connectionMachines.map(\.name)
    let seen = Set(coverage.transitions.all.map(\.element.machine))
    connections = CommonVocabulary.machines.filter { counted.contains($0.name) && seen.contains($0.name) }.map {
      CoverageGrid($0, of: vocabulary, isMain: false, coverage)
    }
    endCodes = vocabulary.endCodes.map { .init(name: $0.name, summary: $0.summary, seen: coverage.endCodes[$0.name]) }
    errorCodes = vocabulary.errorCodes.map {
      .init(name: $0.name, summary: $0.summary, seen: coverage.errorCodes[$0.name])
    }
    messages = vocabulary.messages.map {
      let table = $0.direction == .serverToClient ? coverage.received : coverage.sent
      return .init(name: $0.name, summary: $0.summary, seen: table[$0.name])
    }
    jointStates = coverage.joint.count
  }
}

extension [CoverageReport.Item] {
  var share: CoverageReport.Share { .init(reached: count { $0.seen.count > 0 }, declared: count) }
  var missing: [CoverageReport.Item] { filter { $0.seen.count == 0 } }
}

extension CoverageReport {
  /// Sentences about the runs, one per line.
  var lines: [String] {
    var lines = ["\(Self.count(runs, "run"))" + (notPassed.isEmpty ? ", all passed" : "")]
    if !notPassed.isEmpty {
      let names = notPassed.prefix(Self.nameLimit).map { "\($0.id) (\($0.verdict))" }
      let rest = notPassed.count > Self.nameLimit ? " and \(notPassed.count - Self.nameLimit) more" : ""
      lines[0] += ", \(notPassed.count) did not pass: \(names.joined(separator: ", "))\(rest)"
    }
    if runsWithoutCoverage > 0 { lines.append("\(Self.count(runsWithoutCoverage, "run")) ended without a coverage") }
    if notRun > 0 { lines.append("\(Self.count(notRun, "run")) not made") }
    if peersWithoutCoverage > 0 {
      lines.append("\(Self.count(peersWithoutCoverage, "peer")) without coverage: puppets and programs have none")
    }
    if profiles.isEmpty { lines.append("no peer of any profile ran") }
    return lines
  }

  static let nameLimit = 10
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

extension CoverageReport.Missing {
  /// `calling > ended on timeout`
  var text: String { "\(transition.from) > \(transition.to) on \(transition.event)" }

  /// `idle -(startCall)-> calling`
  var pathText: String {
    guard let path else { return "no declared transition leads to \(transition.from)" }
    guard let first = path.first else { return "\(transition.from) is the first state" }
    return first.from + path.map { " -(\($0.event))-> \($0.to)" }.joined()
  }
}
