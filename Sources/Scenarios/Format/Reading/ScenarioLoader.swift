import CallCore
import Vocabulary

/// Reads one scenario file into its cells: header, used files, matrix, then each cell separately.
struct ScenarioLoader {
  var reading: Reading
  private var overrides: [(name: String, value: String)]
  private let armOptions: [ArmOverride]
  private let measureOptions: [MeasureOverride]
  /// The only cell to read; nil for all.
  private let cellID: String?
  private var profiles = UsedProfiles()
  /// Whether the file only declares named networks and peers for scenarios that use it.
  private(set) var isShared = false

  init(
    registry: ProfileRegistry, overrides: [(name: String, value: String)], cellID: String? = nil,
    reader: @escaping ScenarioFile.FileReader
  ) {
    reading = Reading(registry: registry, reader: reader)
    reading.programs = overrides.compactMap { ProgramOverride($0.name, $0.value) }.map { ($0.peer, $0.command) }
    measureOptions = overrides.compactMap { MeasureOverride($0.name, $0.value) }
    armOptions = overrides.compactMap { ArmOverride($0.name, $0.value) }
    self.overrides = overrides.filter {
      ProgramOverride($0.name, $0.value) == nil && ArmOverride($0.name, $0.value) == nil
        && MeasureOverride($0.name, $0.value) == nil
    }
    reading.overrides = self.overrides
    self.cellID = cellID
  }

  mutating func load(_ bytes: [UInt8], path: String) -> ScenarioFile? {
    guard
      let root = YAMLReader.read(
        bytes, path: path, usedFrom: nil, into: &reading.sources, diagnostics: &reading.diagnostics)
    else { return nil }
    guard root.entries != nil else {
      reading.report(.wrongNode, "a scenario is a mapping, found \(root.description)", at: root.span)
      return nil
    }
    guard !ProfileFileDraft.describes(root) else {
      isShared = true
      profiles.loadItself(root, path: path, &reading)
      return nil
    }
    reading.root = root
    // After problems in the header the rest is still read, so that all problems are reported at once.
    var header = DocumentDraft()
    for key in DocumentDraft.headerType.keys {
      if let node = root[key.name] { _ = key.decode(node, &reading, &header) }
    }
    if root["callsim"] == nil {
      reading.report(
        .missingKey, "scenario needs the key 'callsim': the major version of the format", at: root.span,
        hint: "write callsim: 1")
    }
    profiles.load(header.use, from: path, ancestors: [path], &reading)
    reading.compare = header.compare
    reading.armPatches = ArmsReader.patches(header.compare, armOptions, in: root, &reading)
    reading.measureOptions = ArmsReader.measures(measureOptions, &reading)
    let matrix = (header.matrix.map { Matrix($0, &reading) } ?? Matrix()).withArms(reading.arms)
    let cells = cells(of: root, header, matrix)
    guard !reading.hasTooManyValues, !reading.diagnostics.contains(where: { $0.code == .noCellLeft }) else {
      return nil
    }
    // A single cell cannot show which names the other cells use.
    if cellID == nil {
      checkVariables(header, matrix)
      checkNames(of: cells, root)
      checkGuards(matrix)
      profiles.checkUse(&reading)
      checkFaults(root, header, matrix)
    }
    guard !reading.diagnostics.contains(where: { $0.code.severity == .error }), let first = cells.first?.scenario else {
      return nil
    }
    return ScenarioFile(
      path: path, id: first.id, title: first.title, why: first.why,
      tags: cells.flatMap(\.scenario.tags).inOrderOfAppearance,
      seeds: header.seeds,
      variables: header.vars.map(\.name) + matrix.variables.map(\.name), cells: cells, sources: reading.sources)
  }

  /// Reports an id that differs between cells. The ids of cells are made from it; tags may differ.
  private mutating func checkNames(of cells: [Cell], _ root: YAMLNode) {
    guard let first = cells.first?.scenario, cells.contains(where: { $0.scenario.id != first.id }) else { return }
    reading.report(
      .variableName, "the id differs from cell to cell", at: root["id"]?.span ?? root.span,
      hint: "leave the variable out: a cell is told apart by its values, id[variable=value]")
  }

  private mutating func cells(of root: YAMLNode, _ header: DocumentDraft, _ matrix: Matrix) -> [Cell] {
    var cells: [Cell] = []
    var seen: Set<[String]> = []
    reading.valueCount = 0
    for assignments in matrix.cells {
      let assignments = overridden(assignments)
      guard !matrix.leavesOut(assignments), seen.insert(assignments.map(\.value.text)).inserted else { continue }
      let sorted = assignments.sorted { $0.variable < $1.variable }.map { ($0.variable, $0.value.text) }
      let label = sorted.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
      // The first part of a cell's id is known only after the cell is read.
      if let cellID, !label.isEmpty, !cellID.hasSuffix("[\(label)]") { continue }
      reading.cell = label.isEmpty ? nil : label
      reading.variables = assignments.map { ($0.variable, $0.value) } + variables(header)
      let arm = assignments.last { $0.variable == Scenario.Arms.variable }?.value.text
      reading.arm = reading.armPatches.first { $0.name == arm }
      let used = reading.scope.used
      reading.scope = Scope()
      reading.scope.used = used
      let before = reading.diagnostics.count
      let reader = CellReader(profiles: profiles)
      if let scenario = reader.scenario(root, &reading) {
        cells.append(Cell(assignments: sorted, scenario: scenario))
      }
      if reading.hasTooManyValues {
        // An incompletely read cell has consequential problems.
        reading.diagnostics.removeSubrange(before...)
        reportTooManyValues(root)
        break
      }
      // A problem that does not depend on the cell repeats in every one; the first is enough.
      if reading.diagnostics.count - before > 200 { break }
    }
    reading.cell = nil
    reading.arm = nil
    if seen.isEmpty, !matrix.cells.isEmpty, let entry = root.entry("matrix") {
      let values = overrides.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
      reading.report(
        .noCellLeft, "no cell of the matrix is left with --set \(values)", at: entry.keySpan,
        hint: "skip and only leave them out")
    }
    return cells
  }

  private mutating func reportTooManyValues(_ root: YAMLNode) {
    reading.cell = nil
    let most = Reading.maximumValueCount
    if let matrix = root.entry("matrix") {
      reading.report(
        .tooLarge, "the cells of the matrix have more than \(most) values together", at: matrix.keySpan,
        hint: "a cell has all values of the scenario: leave out cells with skip or only, or make several files")
    } else {
      reading.report(
        .tooLarge, "the scenario has more than \(most) values with those of its vars and of the peers it uses",
        at: root.span, hint: "make several files")
    }
  }

  private func overridden(_ assignments: [Matrix.Assignment]) -> [Matrix.Assignment] {
    assignments.map { assignment in
      overrides.last { $0.name == assignment.variable }.map {
        (assignment.variable, YAMLScalar(text: $0.value, isPlain: true))
      } ?? assignment
    }
  }

  private func variables(_ header: DocumentDraft) -> [(name: String, value: YAMLScalar)] {
    header.vars.map { variable in
      let override = overrides.last { $0.name == variable.name }.map { YAMLScalar(text: $0.value, isPlain: true) }
      return (variable.name, override ?? variable.value)
    }
  }

  /// Reports guards that are false in every cell. With overrides only some cells are read, so nothing is reported.
  private mutating func checkGuards(_ matrix: Matrix) {
    guard !(matrix.variables.isEmpty && reading.armPatches.isEmpty), overrides.isEmpty else { return }
    for (span, isEverTrue) in reading.guards where !isEverTrue {
      reading.report(.neverTested, "this is false in every cell of the matrix", at: span)
    }
  }

  /// Reports faults and keys without an effect in any cell. A cell in which a fault has no effect may be the control
  /// for the others.
  private mutating func checkFaults(_ root: YAMLNode, _ header: DocumentDraft, _ matrix: Matrix) {
    var all = self
    // Cells that an override leaves out may be the ones with an effect.
    let leavesOut: (String) -> Bool = { name in matrix.variables.contains { $0.name == name } }
    if overrides.contains(where: { leavesOut($0.name) }) {
      all.overrides.removeAll { leavesOut($0.name) }
      _ = all.cells(of: root, header, matrix)
    }
    // A cell with errors may be the one with an effect.
    guard !all.reading.diagnostics.contains(where: { $0.code.severity == .error }) else { return }
    for fault in all.reading.faults where !fault.isEverEffective {
      guard let problem = fault.problem else { continue }
      reading.report(fault.key == nil ? .changesNothing : .ineffective, problem, at: fault.span)
    }
    for variable in matrix.variables where all.reading.isInert(variable: variable.name) {
      reading.report(
        .unusedVariable, "the matrix variable '\(variable.name)' stands only where it changes nothing",
        at: variable.span, hint: "give what it stands in something to work on, or leave it out")
    }
  }

  private mutating func checkVariables(_ header: DocumentDraft, _ matrix: Matrix) {
    for variable in matrix.variables {
      if let other = header.vars.first(where: { $0.name == variable.name }) {
        let message = "'\(variable.name)' is also a variable of vars, at \(other.span.line):\(other.span.column)"
        reading.report(.duplicateID, message, at: variable.span)
      }
      guard !reading.scope.used.contains("variable \(variable.name)"), !matrix.cells.isEmpty else { continue }
      let rule = Matrix.synonyms.first { $0.word == variable.name }?.rule
      let hint =
        rule.map { "for combinations write \($0): [{ … }]" }
        ?? "write \"${\(variable.name)}\" where it belongs, in quotes"
      let place =
        reading.scope.used.contains("asked variable \(variable.name)")
        ? "stands in conditions of 'if' alone, which change no run"
        : reading.scope.used.contains("shown variable \(variable.name)")
          ? "stands in text for people alone" : "is used nowhere"
      reading.report(
        .unusedVariable, "the matrix variable '\(variable.name)' \(place)", at: variable.span, hint: hint)
    }
    guard !reading.diagnostics.contains(where: { $0.code.severity == .error }) else { return }
    let used = reading.scope.used
    for variable in header.vars
    where used.isDisjoint(with: ["", "shown ", "asked "].map { "\($0)variable \(variable.name)" }) {
      reading.report(.unusedDefinition, "the variable '\(variable.name)' is used nowhere", at: variable.span)
    }
  }
}

/// Networks and peers from the files of `use`, and the built-in networks.
struct UsedProfiles: Sendable {
  private(set) var networks: [Named<NetworkDraft>] = BuiltInNetworks.all
  /// Networks that contain `${name}`, which are decoded again with the values of each cell.
  private var variable: [(index: Int, node: YAMLNode)] = []
  /// Undecoded peer profiles, which are merged under the peers that use them.
  private(set) var peers: [(name: String, span: SourceSpan, node: YAMLNode)] = []
  private var loaded: Set<String> = []
  /// The names that each entry of the scenario's own `use` declares, in the form of ``Scope/used``.
  private var brought: [(use: Located<String>, names: [String])] = []

  mutating func load(
    _ uses: [Located<String>], from path: String, ancestors: [String], _ reading: inout Reading
  ) {
    for use in uses {
      let path = SourceMap.resolve(use.value, from: path)
      if ancestors.contains(path) {
        reading.report(.useCycle, "\(use.value) is already being read", at: use.span)
        continue
      }
      guard loaded.insert(path).inserted else { continue }
      guard ancestors.count < 16, let bytes = reading.reader(path) else {
        reading.report(
          .unreadable, "'\(use.value)' cannot be read (\(path))", at: use.span,
          hint: "name a regular file, not a folder or a pipe, relative to the file that uses it")
        continue
      }
      guard Self.isOurs(bytes) else {
        let message = "'\(use.value)' is no file of callsim: no line of it begins with 'callsim:'"
        reading.report(.notCallsim, message, at: use.span)
        continue
      }
      guard
        let root = YAMLReader.read(
          bytes, path: path, usedFrom: use.span, into: &reading.sources, diagnostics: &reading.diagnostics)
      else { continue }
      let file = ProfileFileDraft.type.decode(root, &reading)
      let before = (networks.count, peers.count)
      add(file, root, &reading)
      load(file?.use ?? [], from: path, ancestors: ancestors + [path], &reading)
      guard ancestors.count == 1 else { continue }
      let names =
        networks[before.0...].map { "named network \($0.name)" } + peers[before.1...].map { "named peer \($0.name)" }
      brought.append((use, names))
    }
  }

  /// Reports files of which no name is used in any cell.
  func checkUse(_ reading: inout Reading) {
    guard !reading.diagnostics.contains(where: { $0.code.severity == .error }) else { return }
    for (use, names) in brought where reading.scope.used.isDisjoint(with: names) {
      reading.report(
        .unusedName, "nothing of '\(use.value)' is used", at: use.span,
        hint: "leave it out, or name one of its networks or peers")
    }
  }

  /// Reads a shared file alone: decodes all that it declares, with the files that it uses.
  mutating func loadItself(_ root: YAMLNode, path: String, _ reading: inout Reading) {
    loaded.insert(path)
    let file = ProfileFileDraft.type.decode(root, &reading)
    load(file?.use ?? [], from: path, ancestors: [path], &reading)
    add(file, root, &reading)
    TopologyBuilder(TopologyDraft(), catalogue: networks).checkCatalogue(&reading)
    for peer in file?.peers ?? [] {
      guard let use = peer.value.use, !peers.contains(where: { $0.name == use.value }) else { continue }
      let legal = peers.map(\.name)
      reading.reportUnknown(.unknownNamedPeer, "peer profile", use.value, among: legal, at: use.span)
    }
  }

  /// Returns whether a file has a `callsim:` line. The contents of other files must not appear in diagnostics.
  private static func isOurs(_ bytes: [UInt8]) -> Bool {
    let mark = Array("callsim:".utf8)
    return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
      line.starts(with: mark) || line.dropFirst(3).starts(with: mark)
    }
  }

  /// Returns the networks with the values of the cell that is being read.
  func networks(_ reading: inout Reading) -> [Named<NetworkDraft>] {
    var networks = networks
    for (index, node) in variable {
      networks[index].value =
        NetworkDraft.type.format.decode(Substitution.node(node, &reading), &reading) ?? NetworkDraft()
    }
    return networks
  }

  private mutating func add(_ file: ProfileFileDraft?, _ root: YAMLNode, _ reading: inout Reading) {
    for network in file?.networks ?? [] {
      if let other = networks.first(where: { $0.name == network.name }) {
        let place =
          other.span == .builtIn ? "built in already" : "also declared at \(reading.sources.location(of: other.span))"
        let message = "the network '\(network.name)' is \(place)"
        reading.report(.profileClash, message, at: network.span)
        continue
      }
      if let node = root["networks"]?[network.name], node.hasVariable { variable.append((networks.count, node)) }
      networks.append(network)
    }
    for entry in root["peers"]?.entries ?? [] {
      if let other = peers.first(where: { $0.name == entry.key }) {
        let message = "the peer '\(entry.key)' is also declared at \(reading.sources.location(of: other.span))"
        reading.report(.profileClash, message, at: entry.keySpan)
        continue
      }
      peers.append((entry.key, entry.keySpan, entry.value))
    }
  }
}
