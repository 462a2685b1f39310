import Profiles
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioRun

/// Every place of a scenario file that can say something, from the declarations that the decoder itself uses.
///
/// A site is `mapping.key`, `fault KIND.parameter`, `action NAME.parameter` of every peer, `PROFILE action NAME.parameter` or
/// `PROFILE setting NAME`.
enum DeclaredKeys {
  struct Site: Sendable {
    let name: String
    let shape: Shape
  }

  static let all: [Site] = {
    var mappings: [MappingShape] = []
    mappings.append(allWithin: .mapping(DocumentDraft.type.shape))
    mappings.append(allWithin: .mapping(ProfileFileDraft.type.shape))
    var sites = mappings.flatMap { mapping in
      mapping.keys.map { Site(name: "\(mapping.name).\($0.name)", shape: $0.shape) }
    }
    for fault in FaultKind.allCases {
      let declaration = fault.declaration
      let own = declaration.parameters.map { ($0.name, $0.kind.shape) }
      let extras: [MappingShape.Key] =
        switch declaration.extras {
        case .none: []
        case .impairments: Topology.Impairments.type.shape.keys
        case .nat: NATDraft.behaviorType.shape.keys
        }
      let all = own + extras.filter { $0.name != "why" }.map { ($0.name, $0.shape) }
      sites += all.map { Site(name: "fault \(fault.rawValue).\($0.0)", shape: $0.1) }
      sites.append(Site(name: "fault \(fault.rawValue)", shape: .text))
    }
    for key in SendEffect.keys { sites.append(Site(name: "send.\(key.name)", shape: key.shape)) }
    for vocabulary in ProfileCatalogue.builtIn.registry.vocabularies {
      for action in vocabulary.actions { sites += Self.sites(of: action, "\(vocabulary.profile) ") }
      sites += vocabulary.settings.map {
        Site(name: "\(vocabulary.profile) setting \($0.name)", shape: ValueFormat<Value>.declared($0.type).shape)
      }
    }
    for action in CommonVocabulary.actions { sites += Self.sites(of: action, "") }
    return sites
  }()

  private static func sites(of action: ActionDeclaration, _ prefix: String) -> [Site] {
    [Site(name: "\(prefix)action \(action.name)", shape: .text)]
      + action.parameters.map {
        Site(name: "\(prefix)action \(action.name).\($0.name)", shape: ValueFormat<Value>.declared($0.type).shape)
      }
  }

  /// The words of the key, as its declaration lists them.
  static func words(of site: String) -> [String] { all.first { $0.name == site }?.shape.everyWord ?? [] }
}

extension Shape {
  /// All there is to choose from: the words of a choice, or both flags; nil where anything goes.
  var everyWord: [String]? {
    switch self {
    case .flag: ["true", "false"]
    case .choice(let words): words
    case .list(let member, _), .distinct(let member): member.everyWord
    case .either(let shapes):
      shapes.contains { $0.everyWord == nil } ? nil : shapes.flatMap { $0.everyWord ?? [] }
    default: nil
    }
  }

  /// Whether what it holds is declared elsewhere, key by key.
  var isContainer: Bool {
    switch self {
    case .mapping: true
    case .list(let member, _), .distinct(let member), .named(let member): member.isContainer
    case .either(let shapes): shapes.allSatisfy(\.isContainer)
    default: false
    }
  }
}
