import CallCore
import Vocabulary

/// Reads the arms of a file, and what is compared in each cell.
enum ArmsReader {
  /// The name of the file as it is, beside the single arm of an option.
  static let unchanged = "as-is"

  /// Returns the arms of the file and those of options; empty without a comparison.
  static func patches(
    _ draft: CompareDraft?, _ options: [ArmOverride], in root: YAMLNode, _ reading: inout Reading
  ) -> [ArmPatch] {
    var patches = (draft?.arms ?? []).compactMap { patch($0, &reading) }
    for option in options {
      if let other = patches.first(where: { $0.name == option.name }) {
        reading.report(.duplicateID, "--arm names '\(option.name)', which is an arm of the file", at: other.span)
        continue
      }
      if let patch = patch(option, &reading) { patches.append(patch) }
    }
    if draft == nil, let only = patches.first, patches.count == 1 {
      patches.insert(ArmPatch(name: unchanged, span: only.span, changes: []), at: 0)
    }
    if let draft {
      check(draft, patches, in: root, &reading)
      if draft.pairing == .channel { for patch in patches { patch.checkNetwork(in: root, &reading) } }
    }
    return patches
  }

  /// Returns the numbers that options name, as a file would write them.
  static func measures(_ options: [MeasureOverride], _ reading: inout Reading) -> [YAMLNode] {
    options.flatMap { option -> [YAMLNode] in
      let node = YAMLReader.read(
        Array(option.yaml.utf8), path: "--measure \(option.path)", usedFrom: nil, into: &reading.sources,
        diagnostics: &reading.diagnostics)
      return node?.items ?? []
    }
  }

  private static func patch(_ arm: Named<YAMLNode>, _ reading: inout Reading) -> ArmPatch? {
    guard let changes = arm.value.entries else {
      reading.report(
        .wrongNode, "expected the settings that the arm changes, found \(arm.value.description)", at: arm.value.span,
        hint: "write { alice.audio.fec: true }, or {} for the file as it is")
      return nil
    }
    return ArmPatch(name: arm.name, span: arm.span, changes: changes)
  }

  private static func patch(_ option: ArmOverride, _ reading: inout Reading) -> ArmPatch? {
    let path = "--arm \(option.name)"
    guard Reading.isName(option.name) else {
      let file = reading.sources.add(path: path, text: option.text, usedFrom: nil)
      _ = reading.checkName(option.name, at: SourceSpan(file: file, line: 1, column: 1))
      return nil
    }
    guard let text = option.yaml else {
      let file = reading.sources.add(path: path, text: option.text, usedFrom: nil)
      reading.report(
        .syntax, "an arm is path=value, or several with blanks between them",
        at: SourceSpan(file: file, line: 1, column: 1), hint: "write --arm fec='alice.audio.fec=true'")
      return nil
    }
    guard !text.isEmpty else { return ArmPatch(name: option.name, span: .builtIn, changes: []) }
    guard
      let node = YAMLReader.read(
        Array(text.utf8), path: path, usedFrom: nil, into: &reading.sources, diagnostics: &reading.diagnostics)
    else { return nil }
    return ArmPatch(name: option.name, span: node.span, changes: node.entries ?? [])
  }

  private static func check(
    _ draft: CompareDraft, _ patches: [ArmPatch], in root: YAMLNode, _ reading: inout Reading
  ) {
    let place = root["compare"]?.entry("arms")?.keySpan ?? root.span
    if patches.count < 2 {
      reading.report(
        .badListLength, "a comparison has at least two arms, found \(patches.count)", at: place,
        hint: "add one that changes nothing: as-is: {}")
    }
    if let entry = root["matrix"]?.entry(Scenario.Arms.variable) {
      reading.report(
        .duplicateID, "'\(Scenario.Arms.variable)' is the variable that names the arms of compare", at: entry.keySpan,
        hint: "give it another name")
    }
    let names = patches.map(\.name)
    if let baseline = draft.baseline, !names.contains(baseline.value) {
      reading.reportUnknown(.unknownName, "arm", baseline.value, among: names, at: baseline.span)
    }
  }

  /// Returns the arms as the cell that is being read sees them; nil without a comparison.
  static func arms(_ reading: Reading) -> Scenario.Arms? {
    guard let own = reading.arm else { return nil }
    let draft = reading.compare
    var arms = Scenario.Arms()
    arms.pairing = draft?.pairing ?? .channel
    arms.names = reading.arms
    arms.changes = reading.armPatches.map(\.text)
    arms.paths = reading.armPatches.map(\.leaves)
    arms.baseline = draft?.baseline?.value ?? reading.arms.first ?? ""
    arms.own = own.name
    return arms
  }

  /// Returns the numbers that a cell shows: those that the file lists, or else what is known of the peers' calls.
  static func measures(of peers: [Scenario.Peer], _ reading: inout Reading) -> [Expectation] {
    guard reading.arm != nil else { return [] }
    let asked = reading.measureOptions
    if let items = asked.isEmpty ? reading.compare?.measures?.items : asked {
      return items.compactMap { item in
        MeasureDraft.format.decode(item, &reading).map { draft in
          draft.metric.checkDirection(draft.better, &reading)
          return measure(draft, at: item.span)
        }
      }
    }
    return peers.filter { $0.hasCallStack && $0.stack == .real }.flatMap { peer in
      DefaultMeasures.texts(of: peer, reading.scope).compactMap { text, statistic in
        let node = YAMLNode(content: .scalar(YAMLScalar(text: text, isPlain: true)), span: peer.span)
        guard let path = ValueFormat<ValuePath>.numericPath.decode(node, &reading) else { return nil }
        var draft = MeasureDraft()
        draft.metric.value = path
        draft.metric.statistic = statistic
        return measure(draft, at: .builtIn)
      }
    }
  }

  /// Reports a number of which one place says that more is better, and another one that less is.
  static func checkDirections(_ expectations: [Expectation], _ reading: inout Reading) {
    var directions: [(metric: Expectation.Metric, better: Expectation.Delta.Better)] = []
    for expectation in expectations {
      guard let metric = expectation.delta?.metric.number, let better = expectation.delta?.better else { continue }
      guard let first = directions.first(where: { $0.metric == metric }) else {
        directions.append((metric, better))
        continue
      }
      guard first.better != better, expectation.span != .builtIn else { continue }
      reading.report(
        .conflictingKeys,
        "'better: \(better.rawValue)' contradicts 'better: \(first.better.rawValue)' of the same number elsewhere in the file",
        at: expectation.span, hint: "say it once, in measure")
    }
  }

  /// Reports a number of a counter in a window that tells of the time before it: arms whose calls began at other times would
  /// differ in it.
  static func checkCounters(_ expectations: [Expectation], _ reading: inout Reading) {
    for expectation in expectations where expectation.isDelta && expectation.span != .builtIn {
      guard let metric = expectation.delta?.metric, metric.value.counting != nil, metric.window.from != nil,
        ![.rate, .delta].contains(metric.statistic)
      else { continue }
      reading.report(
        .conflictingKeys,
        "\(metric.value) counts from the start of the connection: its \(metric.statistic) is not one of the window",
        at: expectation.span, hint: "write stat: delta or stat: rate, or leave window out")
    }
  }

  private static func measure(_ draft: MeasureDraft, at span: SourceSpan) -> Expectation {
    var delta = Expectation.Delta()
    (delta.metric, delta.better) = (draft.metric, draft.better?.value)
    var expectation = Expectation(kind: .delta(delta))
    let window = delta.metric.window == Window() ? "" : " \(span.line):\(span.column)"
    expectation.text = "\(delta.metric.value) \(delta.metric.statistic)"
    expectation.id = "measure \(expectation.text)\(window)"
    expectation.span = span
    return expectation
  }
}

/// What a comparison shows of a peer if the file lists no measures.
private enum DefaultMeasures {
  private static let audio: [(String, Expectation.Statistic)] = [
    (HarnessEvents.meanOpinionScore.name, .mean), (HarnessEvents.concealment.name, .mean),
    (HarnessEvents.mouthToEar.name, .percentile(95)),
  ]
  private static let video: [(String, Expectation.Statistic)] = [
    (HarnessEvents.peakSignalToNoise.name, .mean), (HarnessEvents.pictureAge.name, .percentile(95)),
    ("stats.inbound-rtp.video.framesDecoded", .delta), ("stats.inbound-rtp.video.totalFreezesDuration", .delta),
  ]
  private static let sent: [(String, Expectation.Statistic)] = [("stats.transport.bytesSent", .rate)]

  /// Returns the numbers of a peer, or those of each of its connections.
  static func texts(of peer: Scenario.Peer, _ scope: Scope) -> [(String, Expectation.Statistic)] {
    let names = scope.owner(peer.name).flatMap { scope.connectionNames(of: $0) }
    let subjects = names.map { $0.map { ConnectionSubject.name(of: $0, at: peer.name) } } ?? [peer.name]
    return subjects.flatMap { subject in
      (audio + (peer.video == nil ? [] : video) + sent).map { (ValuePath.text($0.0, of: subject), $0.1) }
    }
  }
}
