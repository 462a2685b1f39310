import CallCore
import Foundation
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// A scenario prints itself as a file that reads back to the same value.
@Suite struct `A scenario as text` {
  private static let root = FormatTest.folder + "../../scenarios/"
  static let registry = ProfileCatalogue.builtIn.registry

  /// What reading the printed scenario came to, where that is another.
  static func difference(
    _ scenario: Scenario, beside path: String = "printed.yaml", registry: ProfileRegistry = registry
  ) -> String? {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    let text = scenario.text(in: folder)
    let loaded = ScenarioFile.load(text: text, path: path, registry: registry)
    guard let again = loaded.scenario?.cells.first?.scenario else { return FormatTest.text(loaded) + text }
    guard again != scenario else { return nil }
    if again.peers != scenario.peers { return "peers: \(scenario.peers)\n\(again.peers)\n" + text }
    if again.topology != scenario.topology { return "topology: \(scenario.topology)\n\(again.topology)\n" + text }
    for (one, other) in zip(scenario.timeline, again.timeline) where one != other { return "\(one)\n\(other)\n" + text }
    for (one, other) in zip(scenario.expectations, again.expectations) where one != other {
      return "\(one)\n\(other)\n" + text
    }
    return "the scenario\n" + text
  }

  @Test(arguments: `The scenarios that are shipped`.paths) func `reads back to the same value`(_ path: String) {
    let loaded = ScenarioFile.load(path: Self.root + path, registry: Self.registry)
    for cell in loaded.scenario?.cells ?? [] {
      let difference = Self.difference(cell.scenario, beside: Self.root + path)
      #expect(difference == nil, "\(cell.id)\n\(difference ?? "")")
    }
  }

  @Test(arguments: `Files that are right`.names) func `of every kind of key reads back to the same value`(
    _ name: String
  ) {
    let path = FormatTest.folder + "Valid/\(name).yaml"
    let loaded = ScenarioFile.load(path: path, registry: FormatTest.registry)
    for cell in loaded.scenario?.cells ?? [] {
      let difference = Self.difference(cell.scenario, beside: path, registry: FormatTest.registry)
      #expect(difference == nil, "\(cell.id)\n\(difference ?? "")")
    }
  }

  @Test func `has numbers in the largest unit of which they are whole`() {
    let written: [(Value, String)] = [
      (.duration(.milliseconds(1_500)), "1500ms"), (.duration(.seconds(90)), "90s"), (.duration(.zero), "0s"),
      (.duration(.nanoseconds(-1_001)), "-1001ns"), (.rate(.bitsPerSecond(1_500_000)), "1500kbps"),
      (.percentage(0.05), "5%"), (.percentage(0.001), "0.1%"), (.percentage(0.00012), "120ppm"),
      (.percentage(0.3333333333333333), "33.33333333333333%"), (.real(5), "5.0"), (.real(-0.25), "-0.25"),
      (.real(1e-7), "0.0000001"), (.real(1e21), "1000000000000000000000.0"), (.byteSize(1_200), "1200B"),
    ]
    for (value, text) in written { #expect(Quantity.written(value) == text) }
  }

  @Test func `has numbers that read back exactly`() {
    var random = RandomSource(seed: 1).stream("quantities")
    for _ in 0..<20_000 {
      let bits = random.uniform(below: .max)
      let share = Double(bits >> 11) * 0x1p-53
      let span = Interval.nanoseconds(Int64(bits >> 10) % 31_536_000_000_000_000)
      for value in [Value.percentage(share), .percentage(share * 1e-6), .duration(span), .duration(.zero - span)] {
        #expect(Quantity.read(Quantity.written(value)) == .value(value), "\(Quantity.written(value))")
      }
    }
  }

  @Test func `keeps the names of entries that have lost those before them`() throws {
    let loaded = FormatTest.load(
      timeline: "  - { at: 1s, do: alice.mute }\n  - { after: 1s, of: \"#2\", do: alice.unmute }")
    var scenario = try #require(loaded.scenario?.cells.first?.scenario, "\(FormatTest.text(loaded))")
    scenario.timeline.remove(at: 0)
    #expect(scenario.timeline.map(\.id).starts(with: ["#2", "#3"]))
    #expect(Self.difference(scenario, registry: FormatTest.registry) == nil)
  }

  @Test func `has no two entries of one name, written or by place`() {
    let loaded = FormatTest.load(
      timeline: "  - { id: \"#3\", at: 1s, do: alice.mute }\n  - { at: 2s, do: alice.unmute }")
    #expect(loaded.diagnostics.map(\.code).contains(.duplicateID), "\(FormatTest.text(loaded))")
  }
}
