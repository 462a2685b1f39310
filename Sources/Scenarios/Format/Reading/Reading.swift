import CallCore
import Vocabulary

/// What a decoder carries along: the problems found so far, and the names that are legal.
struct Reading {
  let registry: ProfileRegistry
  /// How files that are named by others are read.
  let reader: ScenarioFile.FileReader
  /// What has been read so far.
  var sources = SourceMap()
  /// The samples of the recordings among it.
  var recordings: [(path: String, samples: [Int16])] = []
  /// Whether the recordings together are larger than they may be, which is reported.
  var hasTooManyRecordings = false
  var scope = Scope()
  var diagnostics: [Diagnostic] = []
  /// The matrix cell being decoded, for messages about substituted values.
  var cell: String?
  /// The values of `vars` and `matrix` by name, in the cell being decoded.
  var variables: [(name: String, value: YAMLScalar)] = []
  /// The values of all cells so far, what their peers use included; a text counts once more for every 64 bytes.
  var valueCount = 0
  /// Takes some 300 MB. A long scenario has a few hundred values in each cell.
  static let maximumValueCount = 1_000_000
  var hasTooManyValues: Bool { valueCount > Self.maximumValueCount }

  /// Programs that take the place of peers, as `--peer` names them.
  var programs: [(peer: String, command: [String])] = []

  /// The conditions of `if`, each with whether it was true in any cell so far.
  var guards: [(span: SourceSpan, isEverTrue: Bool)] = []

  /// Faults, and keys of them, that change nothing in some cell, each with why, and whether they do in another.
  var faults: [(span: SourceSpan, key: String?, problem: String?, isEverEffective: Bool)] = []

  /// Where each variable stands as or in a value that a run may depend on.
  var variableUses: [String: Set<SourceSpan>] = [:]
  /// The values under keys that change nothing in some cell, and under the same keys where they change something.
  private var inertValues: Set<SourceSpan> = []
  private var effectiveValues: Set<SourceSpan> = []

  /// The file as it is written.
  var root: YAMLNode?

  /// Scalars with a `${…}` that stands for nothing; that they have the wrong type is no news.
  var unsubstituted: Set<SourceSpan> = []

  /// The values given in place of those of the file.
  var overrides: [(name: String, value: String)] = []
  /// Scalars with a `${name}` in them, with the variables.
  var substitutions: [SourceSpan: [String]] = [:]
  /// Those of them that are one variable and nothing else.
  var wholeVariables: Set<SourceSpan> = []
  /// Those of them that a problem of the variable's value was found at.
  private var misplaced: Set<SourceSpan> = []

  init(registry: ProfileRegistry, reader: @escaping ScenarioFile.FileReader = { _ in nil }) {
    self.registry = registry
    self.reader = reader
  }

  mutating func report(
    _ code: DiagnosticCode, _ message: String, at span: SourceSpan, hint: String? = nil, explain: String? = nil
  ) {
    guard code == .unknownVariable || !unsubstituted.contains(span), !isConsequence(code, at: span) else { return }
    var diagnostic = Diagnostic(code, message, at: span, hint: hint, explain: explain)
    diagnostic.cell = cell
    if code.isOfValue, let names = substitutions[span] { attribute(&diagnostic, to: names) }
    // What is wrong with a value is wrong wherever it is used.
    let isKnown = diagnostics.contains {
      $0.code == code && $0.span != span && $0.span == diagnostic.span && $0.message.hasPrefix(message)
    }
    if !isKnown { diagnostics.append(diagnostic) }
  }

  /// Says of a value that is made of variables what they are.
  private mutating func attribute(_ diagnostic: inout Diagnostic, to names: [String]) {
    if names.count == 1, let name = names.first, wholeVariables.contains(diagnostic.span) {
      return move(&diagnostic, to: name)
    }
    // The cell names those of the matrix.
    let fixed = names.filter { root?["matrix"]?[$0] == nil }.compactMap { name in
      variables.first { $0.name == name }.map { "\(name)=\(YAMLNode.abbreviated($0.value.text))" }
    }
    if !fixed.isEmpty { diagnostic.message += " (with \(fixed.joined(separator: ",")))" }
  }

  /// Tells a value that cannot stand where its variable does at the place where it is written itself, which is the one to
  /// mend.
  private mutating func move(_ diagnostic: inout Diagnostic, to variable: String) {
    misplaced.insert(diagnostic.span)
    guard let override = overrides.last(where: { $0.name == variable }) else {
      guard let place = place(ofVariable: variable) else { return }
      diagnostic.message += ", where ${\(variable)} stands at \(sources.location(of: diagnostic.span))"
      diagnostic.span = place
      return
    }
    diagnostic.message += " (by --set \(variable)=\(YAMLNode.abbreviated(override.value)))"
    diagnostic.hint = diagnostic.hint.map { "in --set: \($0)" }
  }

  /// Where the value is written that a variable has in this cell.
  private func place(ofVariable name: String) -> SourceSpan? {
    if let node = root?["vars"]?[name] { return node.span }
    guard let value = variables.first(where: { $0.name == name })?.value else { return nil }
    return root?["matrix"]?[name]?.items?.first { $0.scalar?.text == value.text }?.span
  }

  /// Names are unknown where the section that declares them could not be read; that section is what to mend.
  private func isConsequence(_ code: DiagnosticCode, at span: SourceSpan) -> Bool {
    switch code {
    case .unknownPeer: scope.peers.isEmpty && hasError(at: "peers")
    case .unknownVariable: hasError(at: "matrix") || hasError(at: "vars")
    case .unknownAnchor, .unknownEntry: isTimelineUnread
    case .triggerCycle: diagnostics.contains { $0.code == .duplicateID }
    default: diagnostics.contains { [.tag, .yaml11Key].contains($0.code) && $0.span == span }
    }
  }

  /// Whether there is a timeline that could not be read, under its name or under one that is nearly the same.
  private var isTimelineUnread: Bool {
    if let timeline = root?["timeline"] { return timeline.items == nil }
    let names = DocumentDraft.type.keyNames
    return root?.entries?.contains { Suggestion.nearest(to: $0.key, among: names) == "timeline" } ?? false
  }

  /// Whether what is missing of a mapping has an excuse: a key of it means nothing, and is what to mend. That key is then
  /// told with what is missing.
  mutating func excuses(_ entries: [YAMLNode.Entry], missing hint: String) -> Bool {
    let index = diagnostics.firstIndex { problem in
      [.unknownKey, .yaml11Key].contains(problem.code) && entries.contains { $0.keySpan == problem.span }
    }
    guard let index else { return false }
    // What a key should be says more here than how one is quoted.
    let own = diagnostics[index].code == .yaml11Key ? nil : diagnostics[index].hint
    diagnostics[index].hint = own ?? hint
    return true
  }

  /// Whether something is wrong with a part of the file, given by the keys that lead to it: what is missing because of
  /// that is no news.
  func hasError(at path: String...) -> Bool {
    var part = root
    for key in path { part = part?[key] }
    return part.map { hasError(in: $0) } ?? false
  }

  func hasError(in part: YAMLNode) -> Bool {
    let errors = Set(diagnostics.lazy.filter { $0.code.severity == .error }.map(\.span))
      .union(unsubstituted).union(misplaced)
    return part.contains(anyOf: errors)
  }

  /// Reports a name that stands for nothing, with the nearest of those that do.
  mutating func reportUnknown(
    _ code: DiagnosticCode, _ noun: String, _ name: String, among legal: [String], at span: SourceSpan,
    explain: String? = nil
  ) {
    // What is written and could not be read is not unknown.
    if code == .unknownPeer, root?["peers"]?[name] != nil { return }
    if code == .unknownEntry, scope.unreadEntries.contains(name) { return }
    if [.unknownLink, .unknownNetwork].contains(code), let slash = name.firstIndex(of: "/"),
      hasError(at: "peers", String(name[..<slash]))
    {
      return
    }
    if code == .unknownEntry, scope.entries.contains(where: { $0.id == name }) {
      let others =
        legal.isEmpty ? "no entry with an id has one" : "with a fault there are: \(legal.joined(separator: ", "))"
      return report(code, "the entry '\(name)' has no fault", at: span, hint: others)
    }
    let hint = Suggestion.hint(for: name, among: legal, noun: "there are")
    report(code, "unknown \(noun) '\(YAMLNode.abbreviated(name))'", at: span, hint: hint, explain: explain)
  }

  mutating func note(guard isTrue: Bool, at span: SourceSpan) {
    guard let index = guards.firstIndex(where: { $0.span == span }) else {
      return guards.append((span, isTrue))
    }
    if isTrue { guards[index].isEverTrue = true }
  }

  /// - Parameters:
  ///   - problem: why the fault, or one key of it, changes nothing in this cell; nil when it does.
  ///   - key: nil for the fault as a whole.
  mutating func note(fault problem: String?, key: String?, at span: SourceSpan) {
    guard let index = faults.firstIndex(where: { $0.span == span && $0.key == key }) else {
      return faults.append((span, key, problem, problem == nil))
    }
    if problem == nil { faults[index].isEverEffective = true }
    faults[index].problem = faults[index].problem ?? problem
  }

  /// - Parameters:
  ///   - problem: why the key changes nothing in this cell, whatever its value is; nil when it may.
  ///   - isDefault: whether the value is what it would be without the key, which is worth no advice.
  mutating func note(effectOf entry: YAMLNode.Entry, problem: String?, isDefault: Bool) {
    let values = entry.value.scalarSpans
    if problem == nil { effectiveValues.formUnion(values) } else { inertValues.formUnion(values) }
    // A peer of another file may be used with more elsewhere.
    guard entry.keySpan.file == 0, problem == nil || !isDefault else { return }
    note(fault: problem, key: entry.key, at: entry.keySpan)
  }

  /// Whether a variable stands only under keys that change nothing in any cell.
  func isInert(variable name: String) -> Bool {
    guard let uses = variableUses[name], !uses.isEmpty else { return false }
    return uses.isSubset(of: inertValues.subtracting(effectiveValues))
  }

  /// Names are letters, digits, `-`, `_` and `/`, and do not begin with `-` or `/`.
  mutating func checkName(_ name: String, at span: SourceSpan) -> Bool {
    guard Self.isName(name) else {
      report(
        .badName, "'\(YAMLNode.abbreviated(name))' is not a name", at: span,
        hint: "a name is letters, digits, '-', '_' and '/', and begins with a letter, a digit or '_'")
      return false
    }
    return true
  }

  static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "/"), name.utf8.count <= 100
    else {
      return false
    }
    return name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_/".utf8.contains($0) }
  }
}

/// The names a cell declares, known before its timeline and expectations are decoded.
struct Scope {
  struct PeerNames {
    var name: String
    var vocabulary: PeerVocabulary
    var stack: Scenario.Peer.Stack
    var isPuppet: Bool { stack == .puppet }
    /// Its profile is wrong, which is reported already: whatever it is asked may exist.
    var isUnknown: Bool {
      vocabulary.profile == nil && !isPuppet && !vocabulary.isProgram && !vocabulary.isServer
    }
    var profile: String? { vocabulary.profile?.profile }
    var interfaces: [String] = []
  }

  var peers: [PeerNames] = []
  var networks: [String] = []
  var links: [String] = []
  var servers: [Topology.Server] = []
  /// What the names of networks stand for.
  var topology = Topology()
  /// Ids of timeline entries; with the fault of those that have one.
  var entries: [(id: String, fault: FaultKind?)] = []
  /// Ids of entries whose effect is unknown, which may have been a fault.
  var unreadEntries: Set<String> = []
  /// Predicates of `define` that are decoded so far.
  var definitions: [Scenario.Definition] = []
  /// Every name in `define`, with the words of what it stands for.
  var definitionWords: [(name: String, words: [String])] = []
  var definitionNames: [String] { definitionWords.map(\.name) }
  /// The definition that is being read.
  var currentDefinition: String?
  /// Names that something referred to, for the lint.
  var used: Set<String> = []

  func peer(_ name: String) -> PeerNames? { peers.first { $0.name == name } }

  /// Whether a definition leads back to the one that is being read.
  func isLoop(from name: String) -> Bool {
    guard let currentDefinition else { return false }
    var found = [name]
    var next = 0
    while next < found.count, found[next] != currentDefinition {
      let words = definitionWords.first { $0.name == found[next] }?.words ?? []
      found += words.inOrderOfAppearance.filter { definitionNames.contains($0) && !found.contains($0) }
      next += 1
    }
    return next < found.count
  }
}

extension Kind where Value == Located<String> {
  static var name: Kind<Located<String>> {
    Kind<String>.text(shape: .pattern("^[A-Za-z0-9_][A-Za-z0-9_/-]*$")).map { text, span, reading in
      reading.checkName(text, at: span) ? Located(text, at: span) : nil
    } back: {
      $0.value
    }
  }

  /// A name, or `#3` as the third in a list is called that has none.
  static var identifier: Kind<Located<String>> {
    let name = self.name
    return name.decoded(.pattern("^([A-Za-z0-9_][A-Za-z0-9_/-]*|#[1-9][0-9]*)$")) { node, reading in
      guard let text = node.scalar?.text, text.hasPrefix("#"), let number = Int(text.dropFirst()), number > 0,
        text == "#\(number)"
      else { return name.decode(node, &reading) }
      return Located(text, at: node.span)
    }
  }

  static var peer: Kind<Located<String>> {
    reference(.unknownPeer, "peer") { $0.peers.map(\.name) }
  }
  static var network: Kind<Located<String>> {
    reference(.unknownNetwork, "network") { $0.networks }
  }
  static var link: Kind<Located<String>> {
    reference(.unknownLink, "link") { $0.links }
  }
  static var server: Kind<Located<String>> {
    reference(.unknownServer, "server") { $0.servers.map(\.name) }
  }

  /// A name that must be one of those in scope.
  private static func reference(
    _ code: DiagnosticCode, _ noun: String, _ legal: @escaping @Sendable (Scope) -> [String]
  ) -> Kind<Located<String>> {
    Kind<String>.text.map { text, span, reading in
      let names = legal(reading.scope)
      guard names.contains(text) else {
        if code == .unknownNetwork, BuiltInNetworks.all.contains(where: { $0.name == text }) {
          // Whoever names it has one of that name already, which is another than one of the topology would be.
          let own = names.filter { $0.hasSuffix("/\(text)") }.prefix(4).map { "'\($0)'" }
          let hint =
            own.isEmpty
            ? "add topology: { networks: { \(text): { profile: \(text) } } }"
            : "did you mean \(own.joined(separator: " or "))?"
          reading.report(
            code, "no network of the topology is called '\(text)', and a named one is made for the peer that names it",
            at: span, hint: hint)
        } else {
          reading.reportUnknown(code, noun, text, among: names, at: span)
        }
        return nil
      }
      reading.scope.used.insert("\(noun) \(text)")
      return Located(text, at: span)
    } back: {
      $0.value
    }
  }
}
