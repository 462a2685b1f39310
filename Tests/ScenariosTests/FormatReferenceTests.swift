import Testing

@testable import Scenarios

@Suite struct `The reference` {
  static let reference = ScenarioReference(registry: FormatTest.registry)

  @Test func `explains every topic it names`() {
    for topic in Self.reference.topics { #expect(Self.reference.explain(topic)?.isEmpty == false, "\(topic)") }
    #expect(Self.reference.explain("nothing") == nil)
  }

  @Test(arguments: `Files that are wrong`.names) func `explains whatever a diagnostic points to`(_ name: String) {
    for topic in `Files that are wrong`.load(name).diagnostics.compactMap(\.explain) {
      #expect(Self.reference.explain(topic) != nil, "\(topic)")
    }
  }

  @Test func `a fault is explained with its arguments`() {
    let text = Self.reference.explain("link.set") ?? ""
    #expect(text.contains("(required)"))
    #expect(text.contains("loss"))
  }
}
