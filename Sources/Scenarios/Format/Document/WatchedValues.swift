package import SimNet
internal import Vocabulary

/// The values and wire quantities that expectations and triggers of a cell read.
extension Scenario {
  package var watchedValues: [ValuePath] {
    asked.flatMap(\.values) + expectations.flatMap(\.values)
      + (timeline.flatMap(\.trigger.anchors) + expectations.flatMap(\.anchors)).compactMap(\.flag)
  }

  /// The NAT values among the watched values, each with the network's name.
  package var watchedNATs: [(network: String, value: NATValue)] {
    watchedValues.compactMap { path in
      guard path.subject.hasPrefix(ValuePath.networkPrefix), let value = NATValue(rawValue: path.name) else {
        return nil
      }
      return (String(path.subject.dropFirst(ValuePath.networkPrefix.count)), value)
    }
  }

  /// The distinct wire quantities, in order of appearance.
  package var watchedWire: [WireQuantity] {
    ((asked + expectations.flatMap(\.predicates)).flatMap(\.wireQuantities) + watchedValues.compactMap(\.wire))
      .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The predicates outside expectations.
  private var asked: [Predicate] {
    let triggers = timeline.compactMap { entry -> Predicate? in
      guard case .when(let predicate, _, _) = entry.trigger else { return nil }
      return predicate
    }
    return definitions.map(\.predicate) + triggers
  }
}

extension Anchor {
  /// The flag that the anchor waits for.
  fileprivate var flag: ValuePath? {
    guard case .becomesTrue(let subject, let value) = kind else { return nil }
    return ValuePath(subject: subject, name: value, type: .flag, unit: nil, span: span)
  }
}

extension Expectation {
  /// The anchors of windows and deadlines, and the counted anchor.
  fileprivate var anchors: [Anchor] {
    var anchors = windows.flatMap { [$0.from, $0.to] }.compactMap(\.self) + [origin].compactMap(\.self)
    if case .count(let count) = kind, case .anchor(let anchor)? = count.subject { anchors.append(anchor) }
    return anchors
  }

  fileprivate var predicates: [Predicate] {
    switch kind {
    case .eventually(let eventually): [eventually.predicate]
    case .always(let invariably), .never(let invariably): [invariably.predicate]
    case .leadsTo(let leadsTo): [leadsTo.condition, leadsTo.consequence]
    case .sometimes(let predicate): [predicate]
    case .count(let count):
      if case .predicate(let predicate)? = count.subject { [predicate] } else { [] }
    case .recovers(let recovers):
      if case .predicate(let predicate) = recovers.to { [predicate] } else { [] }
    case .sequence, .set, .ends, .metric, .delta: []
    }
  }
}

extension Predicate {
  fileprivate var wireQuantities: [WireQuantity] {
    switch kind {
    case .constant: []
    case .and(let parts), .or(let parts): parts.flatMap(\.wireQuantities)
    case .not(let part), .defined(_, let part): part.wireQuantities
    case .compare(let a, _, let b): [a, b].compactMap(\.wire)
    case .isIn(let operand, _), .holds(let operand): [operand].compactMap(\.wire)
    }
  }
}

extension Operand {
  fileprivate var wire: WireQuantity? {
    guard case .wire(let quantity) = self else { return nil }
    return quantity
  }
}
