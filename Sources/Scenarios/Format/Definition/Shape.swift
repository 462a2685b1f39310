import Vocabulary

/// The permitted values at a place of a scenario file, from which the JSON Schema and `callsim explain` are made.
indirect enum Shape: Sendable {
  case flag
  case integer(ClosedRange<Int>)
  case real
  /// A number with one of these units.
  case quantity([String])
  case text
  /// Text that matches a regular expression of the ECMA dialect.
  case pattern(String)
  case choice([String])
  case constant(Int)
  case list(Shape, ClosedRange<Int>)
  /// A list without repeated members.
  case distinct(Shape)
  /// A mapping whose keys are names.
  case named(Shape)
  /// A mapping with declared keys.
  case mapping(MappingShape)
  case either([Shape])
  case anyScalar
}

extension Shape {
  /// The permitted words, including those of members.
  var choices: [String] {
    switch self {
    case .choice(let words): words
    case .list(let member, _), .distinct(let member), .named(let member): member.choices
    case .either(let shapes): shapes.flatMap(\.choices)
    default: []
    }
  }

  /// The shape without repeated members of lists.
  var withDistinctMembers: Shape {
    switch self {
    case .list: .distinct(self)
    case .either(let shapes): .either(shapes.map(\.withDistinctMembers))
    default: self
    }
  }
}

/// A mapping with declared keys, which the schema shows once under its name.
struct MappingShape: Sendable {
  struct Key: Sendable {
    let name: String
    let shape: Shape
    let isRequired: Bool
    let summary: String
    let defaultText: String?
  }

  let name: String
  let summary: String
  let keys: [Key]
}

extension [MappingShape] {
  /// Adds the mappings within a shape, outer ones first, each name once.
  mutating func append(allWithin shape: Shape) {
    switch shape {
    case .mapping(let mapping):
      guard !contains(where: { $0.name == mapping.name }) else { return }
      append(mapping)
      for key in mapping.keys { append(allWithin: key.shape) }
    case .list(let member, _), .distinct(let member), .named(let member): append(allWithin: member)
    case .either(let shapes): for shape in shapes { append(allWithin: shape) }
    default: break
    }
  }
}
