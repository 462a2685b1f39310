import Profiles
import SimNet
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioRun

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

  @Test(arguments: DropReason.allCases) func `explains why a packet did not arrive`(_ reason: DropReason) {
    let text = Self.reference.explain(reason.rawValue) ?? ""
    #expect(text.contains("reason why a packet did not arrive: \(reason.summary)\n"))
    #expect(Self.reference.explain("drops")?.contains("  \(reason.rawValue) ") == true)
  }

  @Test func `a profile is explained with the actions of every peer`() {
    let reference = ScenarioReference(registry: ProfileCatalogue.builtIn.registry)
    let text = reference.explain("knotos") ?? ""
    for action in CommonVocabulary.actions { #expect(text.contains(action.name), "\(action.name)") }
  }

  @Test func `explains a failed check and its reasons`() {
    let text = Self.reference.explain("ice.check-failed") ?? ""
    for reason in ["timeout", "error-response", "non-symmetric", "consent-expired", "relay-refused"] {
      #expect(text.contains(reason), "\(reason)")
    }
  }

  @Test func `a fault is explained with its arguments`() {
    let text = Self.reference.explain("link.set") ?? ""
    #expect(text.contains("(required)"))
    #expect(text.contains("loss"))
  }

  @Test func `explains every word that a scenario file can hold`() {
    let registry = ProfileCatalogue.builtIn.registry
    let reference = ScenarioReference(registry: registry)
    var words = DiagnosticCode.allCases.map(\.rawValue) + Invariant.allCases.map(\.rawValue)
    words += BuiltInNetworks.summaries.map(\.name) + WireQuantity.Kind.allCases.map { "wire.\($0.rawValue)" }
    for fault in FaultKind.allCases {
      words.append(fault.rawValue)
      words += fault.declaration.parameters.flatMap { [$0.name] + $0.choices }
    }
    for type in [DocumentDraft.type.shape, ProfileFileDraft.type.shape] { words += Self.words(of: .mapping(type)) }
    words += registry.vocabularies.flatMap(Self.words)
    words += Self.words(ProgramVocabulary.machines) + ProgramVocabulary.values.flatMap(Self.words)
    words += Self.words(CommonVocabulary.machines) + CommonVocabulary.values.flatMap(Self.words)
    words += CommonVocabulary.actions.map(\.name) + CommonVocabulary.events.map(\.name)
    #expect(Set(words).count > 400)
    for word in Set(words).sorted() { #expect(reference.explain(word)?.contains(word) == true, "\(word)") }
    for word in ["stack", "protocol", "command", "turn_transports", "lag", "program.state", "wire.packets", "knotos"] {
      #expect(words.contains(word), "\(word)")
    }
  }

  /// Keys and closed words, walked apart from how the reference does.
  private static func words(of shape: Shape) -> [String] {
    switch shape {
    case .mapping(let mapping): mapping.keys.flatMap { [$0.name] + words(of: $0.shape) }
    case .list(let member, _), .named(let member): words(of: member)
    case .either(let shapes): shapes.flatMap(words)
    case .choice(let words): words
    default: []
    }
  }

  private static func words(_ vocabulary: ProfileVocabulary) -> [String] {
    let codes = (vocabulary.endCodes + vocabulary.errorCodes).map(\.name)
    let parameters = vocabulary.settings + vocabulary.actions.flatMap(\.parameters)
    return [vocabulary.profile] + words(vocabulary.machines) + vocabulary.actions.map(\.name)
      + vocabulary.messages.map(\.name) + codes + vocabulary.values.flatMap(words)
      + parameters.flatMap { [$0.name] + $0.type.choices }
  }

  private static func words(_ machines: [StateMachine]) -> [String] {
    machines.flatMap { [$0.name] + $0.states.map(\.name) }
  }

  private static func words(_ value: ValueDeclaration) -> [String] { [value.name] + value.type.choices }
}
