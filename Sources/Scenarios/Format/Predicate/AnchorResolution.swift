import CallCore
import Vocabulary

extension ValueFormat where Value == Anchor {
  /// Reads an entry id, a definition, `start`, `end`, a virtual time, or an event of a peer.
  static var anchor: ValueFormat<Anchor> {
    ValueFormat(.either([.quantity(Quantity.durationUnits), .text])) { node, reading in
      guard let scalar = node.scalar, scalar.coreType == .text || scalar.coreType == .integer else {
        let message = "expected an anchor, found \(node.description)"
        reading.report(.wrongType, message, at: node.span, explain: "anchors")
        return nil
      }
      return AnchorResolution.kind(of: scalar.text, at: node, &reading).map { kind in
        Anchor(kind: kind, span: node.span, text: scalar.text)
      }
    } encode: {
      .plain($0.written)
    }
  }
}

enum AnchorResolution {
  static func kind(of text: String, at node: YAMLNode, _ reading: inout Reading) -> Anchor.Kind? {
    // `start` and `end` are reserved, so that names of the file cannot shadow them.
    if reading.scope.entries.contains(where: { $0.id == text }) {
      reading.scope.used.insert("entry \(text)")
      return .entry(text)
    }
    if reading.scope.definitionNames.contains(text) {
      reading.scope.used.insert("definition \(text)")
      return .definition(text)
    }
    if text == "start" { return .time(.zero) }
    if text == "end" { return .end }
    if let quantity = Quantity.read(text) { return time(quantity, text, at: node, &reading) }
    guard text.contains(".") else {
      let legal = reading.scope.entries.map(\.id).filter { !$0.hasPrefix("#") } + reading.scope.definitionNames
      reading.reportUnknown(
        .unknownAnchor, "anchor", text, among: legal + ["start", "end"], at: node.span, explain: "anchors")
      return nil
    }
    guard let owner = PathOwner(text, in: node, from: 0, &reading) else { return nil }
    let (peer, name) = (owner.peer, owner.name)
    if let event = event(name, of: peer) {
      guard let subject = owner.subject(of: event.name, in: node, from: 0, &reading) else { return nil }
      return event.kind(subject)
    }
    if peer.isUnknown { return nil }
    let span = node.span(ofLetters: owner.start, length: max(1, name.unicodeScalars.count))
    let legal = names(of: peer.vocabulary)
    let message = "nothing called '\(YAMLNode.abbreviated(name))' happens to \(peer.name)"
    let hint =
      name.contains(" ")
      ? "an anchor is a name: give the condition one in define" : Suggestion.hint(for: name, among: legal)
    reading.report(.unknownAnchor, message, at: span, hint: hint, explain: "anchors")
    return nil
  }

  private static func time(
    _ quantity: Quantity.Reading, _ text: String, at node: YAMLNode, _ reading: inout Reading
  ) -> Anchor.Kind? {
    switch quantity {
    case .value(.duration(let interval)) where interval >= .zero: return .time(.zero + interval)
    case .bare: reading.report(.missingUnit, "\(text) has no unit", at: node.span, hint: "write \(text)s")
    case .tooLarge(let reason): reading.report(.outOfRange, "\(text) is too large: \(reason)", at: node.span)
    case .value(.duration): reading.report(.outOfRange, "\(text) is before the start of the run", at: node.span)
    default: reading.report(.wrongType, "'\(text)' is not a time such as 12s", at: node.span)
    }
    return nil
  }

  /// Returns the machine, value or event of a name, with a function that makes the anchor for a subject.
  ///
  /// `connected` is a state of the main machine, `ice.connected` one of the machine `ice.state`.
  private static func event(
    _ name: String, of peer: Scope.PeerNames
  ) -> (name: String, kind: (_ subject: String) -> Anchor.Kind)? {
    let vocabulary = peer.vocabulary
    if let main = vocabulary.profile?.machines.first, main.states.contains(where: { $0.name == name }) {
      return (main.name, { .entersState(subject: $0, machine: main.name, state: name) })
    }
    for machine in vocabulary.machines {
      for state in machine.states
      where [short(machine) + "." + state.name, machine.name + "." + state.name].contains(name) {
        return (machine.name, { .entersState(subject: $0, machine: machine.name, state: state.name) })
      }
    }
    if vocabulary.events.contains(name) { return (name, { .event(subject: $0, name: name) }) }
    if vocabulary.value(name)?.type == .flag { return (name, { .becomesTrue(subject: $0, value: name) }) }
    return nil
  }

  private static func short(_ machine: StateMachine) -> String {
    machine.name.hasSuffix(".state") ? String(machine.name.dropLast(".state".count)) : machine.name
  }

  private static func names(of vocabulary: PeerVocabulary) -> [String] {
    (vocabulary.profile?.machines.first?.states.map(\.name) ?? [])
      + vocabulary.machines.flatMap { machine in machine.states.map { short(machine) + "." + $0.name } }
      + vocabulary.events + vocabulary.values.filter { $0.type == .flag }.map(\.name)
  }
}
