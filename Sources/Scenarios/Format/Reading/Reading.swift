import CallCore
import Pictures
import Vocabulary

/// The state of decoding: the diagnostics so far, and the names in scope.
struct Reading {
  let registry: ProfileRegistry
  /// Reads files that other files name.
  let reader: ScenarioFile.FileReader
  /// The files read so far.
  var sources = SourceMap()
  /// The samples of the recordings read so far.
  var recordings: [(path: String, samples: [Int16])] = []
  /// The pictures of those read so far.
  var videos: [(path: String, video: VideoFile)] = []
  /// Whether the recordings exceed their common limit, which is reported.
  var hasTooManyRecordings = false
  var scope = Scope()
  var diagnostics: [Diagnostic] = []
  /// The matrix cell being decoded, for messages about substituted values.
  var cell: String?
  /// The values of `vars` and `matrix` by name, in the cell being decoded.
  var variables: [(name: String, value: YAMLScalar)] = []
  /// The number of values of all cells so far, including those of used peers; each 64 bytes of text count as one more.
  var valueCount = 0
  /// The limit of values, which take some 300 MB. A long scenario has a few hundred values in each cell.
  static let maximumValueCount = 1_000_000
  var hasTooManyValues: Bool { valueCount > Self.maximumValueCount }

  /// What the file says of the comparison.
  var compare: CompareDraft?
  /// The numbers to compare that options name, instead of those of the file.
  var measureOptions: [YAMLNode] = []
  /// The arms that are compared.
  var armPatches: [ArmPatch] = []
  /// The names of the arms.
  var arms: [String] { armPatches.map(\.name) }
  /// The arm of the cell being decoded.
  var arm: ArmPatch?

  /// The programs that replace peers, as `--peer` names them.
  var programs: [(peer: String, command: [String])] = []

  /// The conditions of `if`, each with whether it was true in any cell so far.
  var guards: [(span: SourceSpan, isEverTrue: Bool)] = []

  /// Faults and their keys, each with the reason for having no effect in some cell, and whether it has one in another.
  var faults: [(span: SourceSpan, key: String?, problem: String?, isEverEffective: Bool)] = []

  /// The locations where each variable is a value, or part of one, on which a run may depend.
  var variableUses: [String: Set<SourceSpan>] = [:]
  /// The values under keys without an effect in some cell; ``effectiveValues`` are those with an effect in some cell.
  private var inertValues: Set<SourceSpan> = []
  private var effectiveValues: Set<SourceSpan> = []

  /// The file before substitution.
  var root: YAMLNode?

  /// Scalars with an unknown `${…}`, whose wrong type is not reported again.
  var unsubstituted: Set<SourceSpan> = []

  /// The values that replace those of the file.
  var overrides: [(name: String, value: String)] = []
  /// The variables of each scalar that contains `${name}`.
  var substitutions: [SourceSpan: [String]] = [:]
  /// The scalars that consist of one variable only.
  var wholeVariables: Set<SourceSpan> = []
  /// The scalars at which a problem of the variable's value was found.
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
    // A wrong value of a variable is reported once, not at each use.
    let isKnown = diagnostics.contains {
      $0.code == code && $0.span != span && $0.span == diagnostic.span && $0.message.hasPrefix(message)
    }
    if !isKnown { diagnostics.append(diagnostic) }
  }

  /// Adds the values of the variables from which the text at the location is made.
  private mutating func attribute(_ diagnostic: inout Diagnostic, to names: [String]) {
    if names.count == 1, let name = names.first, wholeVariables.contains(diagnostic.span) {
      return move(&diagnostic, to: name)
    }
    // The name of the cell contains the variables of the matrix.
    let fixed = names.filter { root?["matrix"]?[$0] == nil }.compactMap { name in
      variables.first { $0.name == name }.map { "\(name)=\(YAMLNode.abbreviated($0.value.text))" }
    }
    if !fixed.isEmpty { diagnostic.message += " (with \(fixed.joined(separator: ",")))" }
  }

  /// Moves a diagnostic about a variable's value to the place where the value is written, which is the one to correct.
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

  /// Returns the location of the value that a variable has in this cell.
  private func place(ofVariable name: String) -> SourceSpan? {
    if let node = root?["vars"]?[name] { return node.span }
    guard let value = variables.first(where: { $0.name == name })?.value else { return nil }
    return root?["matrix"]?[name]?.items?.first { $0.scalar?.text == value.text }?.span
  }

  /// Returns whether a name is unknown only because the section that declares it could not be read.
  private func isConsequence(_ code: DiagnosticCode, at span: SourceSpan) -> Bool {
    switch code {
    case .unknownPeer: scope.peers.isEmpty && hasError(at: "peers")
    case .unknownVariable: hasError(at: "matrix") || hasError(at: "vars")
    case .unknownAnchor, .unknownEntry: isTimelineUnread
    case .triggerCycle: diagnostics.contains { $0.code == .duplicateID }
    default: diagnostics.contains { [.tag, .yaml11Key].contains($0.code) && $0.span == span }
    }
  }

  /// Whether the file has a timeline, possibly under a misspelt key, that could not be read.
  private var isTimelineUnread: Bool {
    if let timeline = root?["timeline"] { return timeline.items == nil }
    let names = DocumentDraft.type.keyNames
    return root?.entries?.contains { Suggestion.nearest(to: $0.key, among: names) == "timeline" } ?? false
  }

  /// Returns whether a mapping has an unknown key, which may be the missing one; the diagnostic of that key then gets
  /// the hint.
  mutating func excuses(_ entries: [YAMLNode.Entry], missing hint: String) -> Bool {
    let index = diagnostics.firstIndex { problem in
      [.unknownKey, .yaml11Key].contains(problem.code) && entries.contains { $0.keySpan == problem.span }
    }
    guard let index else { return false }
    // The missing key is better advice than how to quote the unknown one.
    let own = diagnostics[index].code == .yaml11Key ? nil : diagnostics[index].hint
    diagnostics[index].hint = own ?? hint
    return true
  }

  /// Returns whether the part of the file at these keys has an error, so that its consequences need no report.
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

  /// Reports an unknown name, with the nearest known one.
  mutating func reportUnknown(
    _ code: DiagnosticCode, _ noun: String, _ name: String, among legal: [String], at span: SourceSpan,
    explain: String? = nil
  ) {
    // A name whose declaration could not be read is not unknown.
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

  /// Records whether a fault, or a key of it, has an effect in this cell.
  ///
  /// - Parameters:
  ///   - problem: the reason for having no effect in this cell; nil when there is an effect.
  ///   - key: nil for the fault as a whole.
  mutating func note(fault problem: String?, key: String?, at span: SourceSpan) {
    guard let index = faults.firstIndex(where: { $0.span == span && $0.key == key }) else {
      return faults.append((span, key, problem, problem == nil))
    }
    if problem == nil { faults[index].isEverEffective = true }
    faults[index].problem = faults[index].problem ?? problem
  }

  /// Whether something stands in the file itself or in an option, and not in a file of `use`, where it may have an effect
  /// in other scenarios.
  func isOwn(_ span: SourceSpan) -> Bool {
    sources.files.indices.contains(span.file) && sources.files[span.file].usedFrom == nil
  }

  /// Records whether a key has an effect in this cell.
  ///
  /// - Parameters:
  ///   - problem: the reason for having no effect in this cell with any value; nil when there may be an effect.
  ///   - isDefault: whether the value is the default, which needs no advice.
  mutating func note(effectOf entry: YAMLNode.Entry, problem: String?, isDefault: Bool) {
    let values = entry.value.scalarSpans
    if problem == nil { effectiveValues.formUnion(values) } else { inertValues.formUnion(values) }
    guard isOwn(entry.keySpan), problem == nil || !isDefault else { return }
    note(fault: problem, key: entry.key, at: entry.keySpan)
  }

  /// Returns whether a variable is used only under keys without an effect in any cell.
  func isInert(variable name: String) -> Bool {
    guard let uses = variableUses[name], !uses.isEmpty else { return false }
    return uses.isSubset(of: inertValues.subtracting(effectiveValues))
  }

  /// Reports a name with other characters than letters, digits, `-`, `_` and `/`, or with `-` or `/` at its start.
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

/// The names that a cell declares, collected before its timeline and expectations are decoded.
struct Scope {
  struct PeerNames {
    var name: String
    var vocabulary: PeerVocabulary
    var stack: Scenario.Peer.Stack
    var isPuppet: Bool { stack == .puppet }
    /// Whether the profile is wrong, which was reported, so that all its names must be accepted.
    var isUnknown: Bool {
      vocabulary.profile == nil && !isPuppet && !vocabulary.isProgram && !vocabulary.isServer
    }
    var profile: String? { vocabulary.profile?.profile }
    var interfaces: [String] = []
    /// The user id, if it is another word than the name, the texts among the settings, which may be one, too, and the one by
    /// which others know its user instead, if there is one.
    var identities: (userID: String?, settings: [String], shown: String?) = (nil, [], nil)
    /// The data channels that an action opens.
    var opensByAction: [String] = []
  }

  var peers: [PeerNames] = []
  var networks: [String] = []
  var links: [String] = []
  var servers: [Topology.Server] = []
  /// The networks, links and servers behind the names.
  var topology = Topology()
  /// The ids of timeline entries, each with its fault, if any.
  var entries: [(id: String, fault: FaultKind?)] = []
  /// The ids of entries whose effect is unknown and may have been a fault.
  var unreadEntries: Set<String> = []
  /// The predicates of `define` that have been decoded so far.
  var definitions: [Scenario.Definition] = []
  /// The names in `define`, with the words of their predicates.
  var definitionWords: [(name: String, words: [String])] = []
  var definitionNames: [String] { definitionWords.map(\.name) }
  /// The name of the definition that is being decoded.
  var currentDefinition: String?
  /// The names that have been referred to, for the lint.
  var used: Set<String> = []

  func peer(_ name: String) -> PeerNames? { peers.first { $0.name == name } }

  /// Returns the kind of the server through which all media between two users of a product go; nil without one.
  func forwarder(_ first: String, _ second: String) -> String? {
    guard let one = peer(first)?.vocabulary.profile, one.profile == peer(second)?.profile else { return nil }
    return one.servers.first { $0.forwardsMedia && !$0.leavesMedia }?.name
  }

  /// Returns whether a definition refers, directly or indirectly, to the one that is being decoded.
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

extension ValueFormat where Value == Located<String> {
  static var name: ValueFormat<Located<String>> {
    ValueFormat<String>.text(shape: .pattern("^[A-Za-z0-9_][A-Za-z0-9_/-]*$")).map { text, span, reading in
      reading.checkName(text, at: span) ? Located(text, at: span) : nil
    } back: {
      $0.value
    }
  }

  /// Reads a name, or `#3`, the identifier of the third unnamed item of a list.
  static var identifier: ValueFormat<Located<String>> {
    let name = self.name
    return name.decoded(.pattern("^([A-Za-z0-9_][A-Za-z0-9_/-]*|#[1-9][0-9]*)$")) { node, reading in
      guard let text = node.scalar?.text, text.hasPrefix("#"), let number = Int(text.dropFirst()), number > 0,
        text == "#\(number)"
      else { return name.decode(node, &reading) }
      return Located(text, at: node.span)
    }
  }

  static var peer: ValueFormat<Located<String>> {
    reference(.unknownPeer, "peer") { $0.peers.map(\.name) }
  }
  static var network: ValueFormat<Located<String>> {
    reference(.unknownNetwork, "network") { $0.networks }
  }
  static var link: ValueFormat<Located<String>> {
    reference(.unknownLink, "link") { $0.links }
  }
  static var server: ValueFormat<Located<String>> {
    reference(.unknownServer, "server") { $0.servers.map(\.name) }
  }

  /// Reads a name that must be in scope.
  private static func reference(
    _ code: DiagnosticCode, _ noun: String, _ legal: @escaping @Sendable (Scope) -> [String]
  ) -> ValueFormat<Located<String>> {
    ValueFormat<String>.text.map { text, span, reading in
      let names = legal(reading.scope)
      guard names.contains(text) else {
        if code == .unknownNetwork, BuiltInNetworks.all.contains(where: { $0.name == text }) {
          // A peer that names a built-in network has its own instance, which differs from a network of the topology.
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
