import CallCore
import SimNet
import Vocabulary

extension ValuePath {
  /// Resolves `peer.name`; a diagnostic points to the wrong part.
  static func resolve(
    _ text: String, at span: SourceSpan, in node: YAMLNode, from start: Int, _ reading: inout Reading
  ) -> ValuePath? {
    if text.hasPrefix(networkPrefix) { return network(text, at: span, in: node, from: start, &reading) }
    guard let owner = PathOwner(text, in: node, from: start, &reading) else { return nil }
    let (peer, name) = (owner.peer, owner.name)
    let peerName = peer.name
    let vocabulary = peer.vocabulary
    let place = node.span(ofLetters: owner.start, length: max(1, name.unicodeScalars.count))
    if peer.stack == .external, name.hasPrefix("q."), !reading.isReplaced(peerName) {
      let message = "\(peerName) is a program: the quality of what it hears is not measured"
      reading.report(.notOfAProgram, message, at: place, hint: "its stats.… are there, as it gives them")
      return nil
    }
    let pictures = [PeerEvents.visible.name, PeerEvents.camera.name]
    if peer.stack == .external, pictures.contains(name), !reading.isReplaced(peerName) {
      let message = "\(peerName) is a program: what it films and shows is not looked at"
      reading.report(.notOfAProgram, message, at: place, hint: "its stats.… are there, as it gives them")
      return nil
    }
    if let value = vocabulary.value(name) {
      guard let subject = owner.subject(of: value.name, in: node, from: start, &reading) else { return nil }
      let type = reading.type(of: value, of: peer)
      return ValuePath(
        subject: subject, name: value.name, type: type, unit: value.unit, counting: value.counting, span: span)
    }
    if peer.isUnknown { return nil }
    let message = "'\(YAMLNode.abbreviated(name))' is not a value of \(peerName)"
    if peer.isPuppet {
      let hint = "a puppet has no app and no stack; ask what others make of what it sends"
      reading.report(.unknownMember, message, at: place, hint: hint)
      return nil
    }
    if let machine = vocabulary.machines.first(where: { $0.states.contains { $0.name == name } }) {
      let hint = "write \(peerName).\(machine.name) == \(name)"
      reading.report(.unknownMember, message, at: place, hint: hint, explain: machine.name)
      return nil
    }
    report(name, of: peerName, from: owner.start, in: node, among: vocabulary.values.map(\.name), &reading)
    return nil
  }

  /// The prefix of a network's name in traces and explanations.
  static let networkPrefix = "network/"

  /// Resolves `network/home.nat.mappings`, a value of a network's NAT.
  private static func network(
    _ text: String, at span: SourceSpan, in node: YAMLNode, from start: Int, _ reading: inout Reading
  ) -> ValuePath? {
    let dot = text.firstIndex(of: ".") ?? text.endIndex
    let name = String(text[..<dot].dropFirst(networkPrefix.count))
    let value = String(text[dot...].dropFirst())
    let length = String(text[..<dot]).unicodeScalars.count
    guard let network = reading.scope.topology.network(name) else {
      let place = node.span(ofLetters: start, length: length)
      let legal = reading.scope.topology.networks.map(\.name)
      reading.reportUnknown(.unknownNetwork, "network", name, among: legal, at: place)
      return nil
    }
    let rest = node.span(ofLetters: start + length + 1, length: max(1, value.unicodeScalars.count))
    guard let known = NATValue(rawValue: value) else {
      let hint = Suggestion.hint(for: value, among: NATValue.allCases.map(\.rawValue), noun: "it has")
      let message = "'\(YAMLNode.abbreviated(value))' is not a value of the network '\(name)'"
      reading.report(.unknownMember, message, at: rest, hint: hint)
      return nil
    }
    guard let nat = network.nat else {
      reading.report(.wrongRouter, "\(name) has no NAT", at: rest, hint: "give \(name) the key nat")
      return nil
    }
    guard known != .freePorts || !nat.overloadsPorts else {
      let message = "\(name) overloads its ports, so that there is no end of them"
      reading.report(.wrongRouter, message, at: rest, hint: "ask for nat.mappings")
      return nil
    }
    reading.scope.used.insert("network \(name)")
    return ValuePath(
      subject: networkPrefix + name, name: known.rawValue, type: .count, unit: nil,
      counting: known.rawValue.hasPrefix("nat.drops") ? .upward : nil, span: span)
  }

  /// Reports the first unknown component: `bytesRecieved` of `stats.candidate-pair.bytesRecieved`.
  private static func report(
    _ name: String, of peer: String, from start: Int, in node: YAMLNode, among legal: [String], _ reading: inout Reading
  ) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var known: [String] = []
    for part in parts {
      let prefix = (known + [part]).joined(separator: ".") + "."
      guard legal.contains(where: { $0.hasPrefix(prefix) }) else { break }
      known.append(part)
    }
    let parent = known.joined(separator: ".")
    let offset = known.isEmpty ? 0 : parent.unicodeScalars.count + 1
    let rest = parts.dropFirst(known.count).joined(separator: ".")
    let wrong = known.count < parts.count ? rest : name
    let span = node.span(ofLetters: start + offset, length: max(1, wrong.unicodeScalars.count))
    guard known.count < parts.count else {
      let members = children(of: parent, among: legal)
      let hint = members.count <= 10 ? "it has: " + members.joined(separator: ", ") : nil
      let whole = node.span(ofLetters: start, length: max(1, name.unicodeScalars.count))
      reading.report(.unknownMember, "'\(name)' is a group of values, not a value", at: whole, hint: hint)
      return
    }
    let owner = known.isEmpty ? peer : known.last ?? peer
    let inGroup = legal.filter { known.isEmpty || $0.hasPrefix(parent + ".") }.map { String($0.dropFirst(offset)) }
    let machine = legal.first { known.isEmpty && $0.hasSuffix("." + rest) && rest == "state" }
    let near = machine ?? Suggestion.nearest(to: rest, among: inGroup + children(of: parent, among: legal))
    let hint =
      near.map { "did you mean '\($0)'?" }
      ?? (known.isEmpty ? Suggestion.hint(for: rest, among: inGroup, noun: "it has") : nil)
      ?? Suggestion.hint(for: rest, among: children(of: parent, among: legal), noun: "it has")
    let message = "'\(YAMLNode.abbreviated(rest))' is not a value of \(owner)"
    reading.report(.unknownMember, message, at: span, hint: hint, explain: known.isEmpty ? "values" : nil)
  }

  private static func children(of parent: String, among legal: [String]) -> [String] {
    var seen: [String] = []
    for name in legal {
      guard parent.isEmpty || name.hasPrefix(parent + ".") else { continue }
      let rest = parent.isEmpty ? name[...] : name.dropFirst(parent.count + 1)
      let child = String(rest.prefix { $0 != "." })
      if !seen.contains(child) { seen.append(child) }
    }
    return seen
  }
}

extension Reading {
  /// Returns the type of a peer's value. The preferred interface is a choice among the names in the file.
  fileprivate func type(of value: ValueDeclaration, of peer: Scope.PeerNames) -> ValueType {
    // An unknown network has been reported already.
    guard value.name == CommonVocabulary.network.name, !peer.interfaces.isEmpty, !hasError(at: "peers", peer.name)
    else {
      return value.type
    }
    return .choice(peer.interfaces + [CommonVocabulary.noNetwork])
  }

  /// Returns whether the value is the state of a machine.
  func isMachine(_ path: ValuePath) -> Bool {
    scope.owner(path.owner)?.vocabulary.machine(path.name) != nil
  }
}

extension ValueFormat where Value == ValuePath {
  /// Reads a number of a peer, or `wire.media(from: bob)`.
  static var numericPath: ValueFormat<ValuePath> {
    let own = valuePath { path in
      [.text, .flag].contains(ValueFamily(path.type)) ? "'\(path)' is not a number" : nil
    }
    return ValueFormat(.either([own.shape, .pattern("^wire\\.")])) { node, reading in
      guard node.scalar?.text.hasPrefix("wire.") == true else { return own.decode(node, &reading) }
      return PredicateParser.wireQuantity(node, &reading).map { quantity in
        ValuePath(
          subject: WireQuantity.subject, name: quantity.kindName, type: .count,
          unit: quantity.kind.isOfBytes ? "bytes" : nil, span: node.span, wire: quantity)
      }
    } encode: {
      .text("\($0)")
    }
  }

  /// Reads `peer.name`; `problem` returns the reason to refuse a value.
  static func valuePath(_ problem: @escaping @Sendable (ValuePath) -> String? = { _ in nil }) -> ValueFormat<ValuePath>
  {
    ValueFormat(.pattern("^[^ .]+\\.[^ ]+$")) { node, reading in
      guard let scalar = node.scalar, scalar.coreType == .text else {
        reading.report(
          .wrongType, "expected a value such as alice.ice.state, found \(node.description)", at: node.span)
        return nil
      }
      guard let path = ValuePath.resolve(scalar.text, at: node.span, in: node, from: 0, &reading) else { return nil }
      if let message = problem(path) {
        reading.report(.predicateType, message, at: node.span)
        return nil
      }
      return path
    } encode: {
      .text("\($0)")
    }
  }
}
