import CallCore
import Foundation
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

@Suite struct `Scenarios made by chance` {
  private static let registry = ProfileCatalogue.builtIn.registry
  /// `CALLSIM_SCENARIOS=10000` makes as many, which takes minutes in a debug build.
  private static let count =
    ProcessInfo.processInfo.environment["CALLSIM_SCENARIOS"].flatMap { Int($0) } ?? 100

  @Test func `print as texts that read back to the same, and have all there is`() {
    var generator = ScenarioGenerator(registry: Self.registry, seed: 1)
    var faults: Set<String> = []
    var expectations: Set<String> = []
    for _ in 0..<Self.count {
      let scenario = generator.next()
      let difference = `A scenario as text`.difference(scenario)
      #expect(difference == nil, "\(difference ?? "")")
      faults.formUnion(scenario.timeline.compactMap { $0.fault?.kind.rawValue })
      for expectation in scenario.expectations {
        expectations.formUnion(ExpectationVariant.all.filter { $0.encode(expectation.kind) != nil }.map(\.key))
      }
    }
    // Few scenarios have most of the faults, and many have all.
    let missing = FaultKind.allCases.map(\.rawValue).filter { !faults.contains($0) }
    #expect(missing.count <= (Self.count < 1_000 ? 8 : 0), "\(missing)")
    // A scenario is one arm, and a difference is between two.
    #expect(ExpectationVariant.all.map(\.key).filter { !expectations.contains($0) } == ["delta"])
  }

  @Test func `are the same for the same seed`() {
    var one = ScenarioGenerator(registry: Self.registry, seed: 7)
    var other = ScenarioGenerator(registry: Self.registry, seed: 7)
    for _ in 0..<5 {
      let (first, second) = (one.next(), other.next())
      #expect(first == second)
    }
  }
}
