import CallCore
package import Vocabulary

/// The common keys of all expectations.
struct ExpectationHeader: Sendable {
  var id: Located<String>?
  var guardNode: YAMLNode?
  var severity = Expectation.Severity.fail
  var share: ShareDraft?
  var why: String?

  static let type = MappingType(
    "expectation", "something that must be true of a run", ExpectationHeader(),
    [
      .key("id", ValueFormat<Located<String>>.identifier, \.id, "the name it has in reports"),
      .key(
        "if", .node(.text), \.guardNode,
        "a condition on matrix variables; elsewhere it is left out"),
      .key("severity", .choice, \.severity, default: "fail", "whether it fails the run or only warns"),
      .key(
        "share", ShareDraft.type.format, \.share, default: "every run",
        "of the runs of all seeds, the share in which it holds: { gte: 40%, lte: 60% }"),
      .key("why", .text, \.why, "the reason, echoed in failures"),
    ])
}

/// The undecoded bounds of `share`.
struct ShareDraft: Sendable, Equatable {
  var bounds = BoundsDraft()

  static let type = MappingType(
    "share", "the least and the greatest share of the runs", ShareDraft(),
    BoundsDraft.type.keys(of: \ShareDraft.bounds))
}

/// One kind of expectation: the key that names it, its shape and its decoder.
struct ExpectationVariant: Sendable {
  let key: String
  let shape: MappingShape
  let keyNames: [String]
  let decode: @Sendable (YAMLNode, inout Reading) -> Expectation.Kind?
  /// Returns the variant's own keys; nil for another kind.
  let encode: @Sendable (Expectation.Kind) -> [(key: String, value: YAMLNode)]?

  /// Creates a variant from the type of its own keys.
  ///
  /// - Parameter back: the inverse of `make`; nil for another kind.
  private init<Payload>(
    _ key: String, _ type: MappingType<Payload>,
    _ make: @escaping @Sendable (Payload, YAMLNode, inout Reading) -> Expectation.Kind?,
    back: @escaping @Sendable (Expectation.Kind) -> Payload?
  ) {
    self.key = key
    encode = { kind in back(kind).map { type.entries(of: $0) } }
    keyNames = type.keyNames
    let header = ExpectationHeader.type.shape
    let own = type.shape
    shape = MappingShape(
      name: own.name, summary: own.summary,
      keys: own.keys.filter { $0.name != "why" } + header.keys)
    decode = { node, reading in
      guard let payload = type.decode(node, &reading, others: ExpectationHeader.type.keyNames) else { return nil }
      return make(payload, node, &reading)
    }
  }

  static let all = [
    sequence, set, eventually, always, never, leadsTo, ends, count, recovers, metric, sometimes, delta,
  ]

  private static func needsText(_ path: ValuePath) -> String? {
    ValueFamily(path.type) == .text ? nil : "'\(path)' has no named values to list"
  }

  private static let sequence = ExpectationVariant(
    "sequence",
    MappingType(
      "sequence", "the values a watched value takes, in this order", Expectation.Sequence(),
      [
        .key("sequence", .valuePath(needsText), \.value, required: true, "the watched value"),
        .key("is", Expectation.Sequence.Step.format.list(atLeast: 1), \.steps, required: true, "its values in order"),
        .key("strict", .flag, \.isStrict, default: "false", "nothing else may come before, between or after them"),
        .key("of", .anchor, \.of, default: "start", "what 'by' counts from"),
        .key("between", .window, \.between, "the window in which it is watched"),
      ])
  ) { payload, node, reading in
    if let of = node.entry("of"), payload.steps.allSatisfy({ $0.by == nil }) {
      reading.report(.conflictingKeys, "'of' is what 'by' counts from, and no step has one", at: of.keySpan)
    }
    let legal = payload.steps.map(\.value)
    return check(legal, of: payload.value, &reading) ? .sequence(payload) : nil
  } back: {
    if case .sequence(let payload) = $0 { payload } else { nil }
  }

  private static let set = ExpectationVariant(
    "set",
    MappingType(
      "set", "values that a watched value takes, in any order", Expectation.SetOf(),
      [
        .key("set", .valuePath(needsText), \.value, required: true, "the watched value"),
        .key(
          "contains", ValueFormat<String>.text.located.list(atLeast: 1).distinct(\.value), \.contains, required: true,
          "the values"),
        .key(
          "strict", .flag, \.isStrict, default: "false", "no other value may be seen, nor hold when the window opens"),
        .key("between", .window, \.between, "the window in which it is watched"),
      ])
  ) { payload, _, reading in
    return check(payload.contains, of: payload.value, &reading) ? .set(payload) : nil
  } back: {
    if case .set(let payload) = $0 { payload } else { nil }
  }

  private static let eventually = ExpectationVariant(
    "eventually",
    MappingType(
      "eventually", "becomes true in time", Expectation.Eventually(),
      [
        .key("eventually", .predicate, \.predicate, required: true, "what becomes true"),
        .key("within", .duration(.positive), \.within, default: "the rest of the run", "how soon"),
        .key("of", .anchor, \.of, default: "start", "what 'within' counts from"),
        .key("hold", .duration(.positive), \.hold, "how long it must then stay true"),
      ])
  ) { payload, _, _ in
    .eventually(payload)
  } back: {
    if case .eventually(let payload) = $0 { payload } else { nil }
  }

  private struct Invariably: Sendable {
    var predicate = Predicate.constant(true)
    var between: Window?
    var until: Anchor?

    init() {}

    init(_ expectation: Expectation.Invariably) {
      predicate = expectation.predicate
      switch (expectation.window.from, expectation.window.to) {
      case (nil, nil): break
      case (nil, let to?): until = to
      case (let from?, let to): between = Window(from: from, to: to)
      }
    }
  }

  private static func invariably(_ name: String, _ summary: String) -> MappingType<Invariably> {
    MappingType(
      name, summary, Invariably(),
      [
        .key(name, .predicate, \.predicate, required: true, "the condition"),
        .key("between", .window, \.between, default: "the whole run", "the window"),
        .key("until", .anchor, \.until, "from the start to here"),
      ])
  }

  private static func window(_ payload: Invariably, _ node: YAMLNode, _ reading: inout Reading) -> Expectation
    .Invariably?
  {
    if payload.between != nil, payload.until != nil, let until = node.entry("until") {
      reading.report(.conflictingKeys, "'between' and 'until' exclude each other", at: until.keySpan)
      return nil
    }
    var result = Expectation.Invariably()
    result.predicate = payload.predicate
    result.window = payload.between ?? Window(to: payload.until)
    return result
  }

  private static let always = ExpectationVariant("always", invariably("always", "is true throughout a window")) {
    payload, node, reading in
    window(payload, node, &reading).map { .always($0) }
  } back: {
    if case .always(let payload) = $0 { Invariably(payload) } else { nil }
  }
  private static let never = ExpectationVariant("never", invariably("never", "is not true anywhere in a window")) {
    payload, node, reading in
    window(payload, node, &reading).map { .never($0) }
  } back: {
    if case .never(let payload) = $0 { Invariably(payload) } else { nil }
  }

  private struct Leads: Sendable { var leads = Expectation.LeadsTo() }

  private static let leadsTo = ExpectationVariant(
    "leads_to",
    MappingType(
      "leads_to", "whenever one thing becomes true, another follows in time", Leads(),
      [
        .key(
          "leads_to",
          MappingType(
            "implication", "if, then and within", Expectation.LeadsTo(),
            [
              .key("if", .predicate, \.condition, required: true, "what becomes true"),
              .key("then", .predicate, \.consequence, required: true, "what must follow"),
              .key("within", .duration(.positive), \.within, required: true, "how soon"),
            ]
          ).format, \.leads, required: true, "if, then and within")
      ])
  ) { payload, _, _ in
    .leadsTo(payload.leads)
  } back: {
    if case .leadsTo(let leads) = $0 { Leads(leads: leads) } else { nil }
  }

  private static let ends = ExpectationVariant(
    "ends",
    MappingType(
      "ends", "a peer's call ends with one of these codes", Expectation.Ends(),
      [
        .key("ends", ValueFormat<Located<String>>.peer, \.peer, required: true, "the peer"),
        .key(
          "code", ValueFormat<String>.word.located.oneOrMany().distinct(\.value), \.codes, required: true,
          "an end code of its profile, or several of which any will do"),
        .key("within", .duration(.positive), \.within, default: "the rest of the run", "how soon"),
        .key("of", .anchor, \.of, default: "start", "what 'within' counts from"),
      ])
  ) { payload, _, reading in
    let peer = reading.scope.peer(payload.peer.value)
    let legal = peer?.vocabulary.endCodes ?? []
    guard peer?.isUnknown == false else { return nil }
    if peer?.isPuppet == true {
      let message = "no call of \(payload.peer.value) ends: a puppet has no app"
      reading.report(.unknownEndCode, message, at: payload.peer.span, hint: "name the peer whose call should end")
      return nil
    }
    let unknown = payload.codes.filter { !legal.contains($0.value) }
    for code in unknown {
      if let unseen = peer?.vocabulary.profile?.unseenCodes.first(where: { $0.name == code.value }) {
        let message = "no client sees the code '\(code.value)': \(unseen.summary)"
        reading.report(
          .unknownEndCode, message, at: code.span, hint: "expect what the app is told, one of its own codes",
          explain: "codes")
        continue
      }
      if peer?.vocabulary.profile?.errorCodes.contains(where: { $0.name == code.value }) == true {
        let event = "\(payload.peer.value).\(EventPrefix.code)\(code.value)"
        reading.report(
          .unknownEndCode, "no call ends with '\(code.value)': the app raises it", at: code.span,
          hint: "write count: \(event), eq: 1", explain: "codes")
        continue
      }
      reading.reportUnknown(.unknownEndCode, "end code", code.value, among: legal, at: code.span, explain: "codes")
    }
    return unknown.isEmpty ? .ends(payload) : nil
  } back: {
    if case .ends(let payload) = $0 { payload } else { nil }
  }

  private static let count = ExpectationVariant(
    "count",
    MappingType(
      "count", "how often something happens", CountDraft(),
      [
        .key(
          "count", CountDraft.subjectFormat, \.subject, required: true,
          "an event, or a predicate: the times it becomes true, not that it is so when the window opens"),
        .key("between", .window, \.between, default: "the whole run", "the window"),
      ] + BoundsDraft.type.keys(of: \CountDraft.bounds))
  ) { payload, node, reading in
    let bounds = payload.bounds.bounds(of: .count, unit: nil, within: .count, at: node, &reading)
    guard let bounds else { return nil }
    var count = Expectation.Count()
    count.subject = payload.subject
    count.between = payload.between
    count.bounds = bounds
    return .count(count)
  } back: {
    guard case .count(let count) = $0 else { return nil }
    return CountDraft(subject: count.subject, between: count.between, bounds: BoundsDraft(count.bounds))
  }

  private static let recovers = ExpectationVariant(
    "recovers",
    MappingType(
      "recovers", "after a fault a condition is lost, which without the fault it is not, and comes back in time",
      Expectation.Recovers(),
      [
        .key("recovers", ValueFormat<String>.text.located, \.fault, required: true, "the id of an entry with a fault"),
        .key("to", Expectation.Recovers.Target.format, \.to, required: true, "media-both-ways, or a predicate"),
        .key("within", .duration(.positive), \.within, required: true, "how soon"),
        .key("hold", .duration(.positive), \.hold, "how long it must then hold"),
      ])
  ) { payload, _, reading in
    let name = payload.fault
    guard reading.scope.entries.contains(where: { $0.id == name.value && $0.fault != nil }) else {
      let legal = reading.scope.entries.filter { $0.fault != nil && !$0.id.hasPrefix("#") }.map(\.id)
      reading.reportUnknown(.unknownEntry, "entry with a fault", name.value, among: legal, at: name.span)
      return nil
    }
    reading.scope.used.insert("entry \(name.value)")
    return .recovers(payload)
  } back: {
    if case .recovers(let payload) = $0 { payload } else { nil }
  }

  private static let metric = ExpectationVariant(
    "metric",
    MappingType(
      "metric", "a statistic of a number, compared", MetricDraft(),
      [
        .key(
          "metric", .numericPath, \.metric.value, required: true,
          "the watched number, of a peer or of the wire: \"wire.media(from: bob)\""),
        .key("stat", Expectation.Statistic.format, \.metric.statistic, default: "last", Expectation.Statistic.words),
        .key("window", .window, \.metric.window, default: "the whole run", "the window"),
        .key(
          "across", .choice, \.metric.across, default: "run",
          "over one run, or over the runs of all seeds: the largest max, the smallest min, the mean of any other"),
      ] + BoundsDraft.type.keys(of: \MetricDraft.bounds))
  ) { payload, node, reading in
    let path = payload.metric.value
    if path.isTimestamp, payload.metric.statistic == .sum, let stat = node.entry("stat") {
      let hint = "last, min and max are times too, delta and rate say how it moves"
      reading.report(
        .conflictingKeys, "'\(path)' is a time, and a sum of times says nothing", at: stat.keySpan, hint: hint)
      return nil
    }
    let (type, unit) = payload.metric.statistic.result(of: path)
    let own = payload.metric.statistic.range(of: path)
    let range = payload.metric.across == .seeds && payload.metric.statistic.isAveragedOverRuns ? own.filled : own
    guard let bounds = payload.bounds.bounds(of: type, unit: unit, within: range, at: node, &reading) else {
      return nil
    }
    var metric = payload.metric
    metric.bounds = bounds
    return .metric(metric)
  } back: {
    if case .metric(let metric) = $0 { MetricDraft(metric: metric, bounds: BoundsDraft(metric.bounds)) } else { nil }
  }

  private struct Sometimes: Sendable { var predicate = Predicate.constant(true) }

  private static let sometimes = ExpectationVariant(
    "sometimes",
    MappingType(
      "sometimes", "over all seeds, at least one run reaches this", Sometimes(),
      [.key("sometimes", .predicate, \.predicate, required: true, "what is reached")])
  ) { payload, _, _ in
    .sometimes(payload.predicate)
  } back: {
    if case .sometimes(let predicate) = $0 { Sometimes(predicate: predicate) } else { nil }
  }

  private static let delta = ExpectationVariant("delta", DeltaDraft.type) { payload, node, reading in
    payload.decoded(node, &reading).map { .delta($0) }
  } back: {
    if case .delta(let delta) = $0 { DeltaDraft(delta) } else { nil }
  }

  /// Returns whether the watched value can take all these values, and reports the others.
  private static func check(_ values: [Located<String>], of path: ValuePath, _ reading: inout Reading) -> Bool {
    guard case .choice(let legal) = path.type else { return true }
    var isFine = true
    for value in values where !legal.contains(value.value) {
      let isState = reading.isMachine(path)
      let hint = Suggestion.hint(for: value.value, among: legal, noun: "there are")
      let message = isState ? "unknown state '\(value.value)' of \(path)" : "'\(value.value)' is not a value of \(path)"
      reading.report(isState ? .unknownState : .notAChoice, message, at: value.span, hint: hint)
      isFine = false
    }
    return isFine
  }
}

// MARK: - Parts of expectations

struct CountDraft: Sendable {
  var subject: Expectation.Count.Subject?
  var between = Window()
  var bounds = BoundsDraft()

  /// Reads an event, or a predicate if the text has an operator.
  static let subjectFormat = ValueFormat<Expectation.Count.Subject>(.text) { node, reading in
    let text = node.scalar?.text ?? ""
    let isEvent = text.contains(".") && !PredicateLexer.tokens(of: text).contains(where: \.isOperator)
    guard isEvent || reading.scope.entries.contains(where: { $0.id == text }) else {
      return ValueFormat<Predicate>.predicate.decode(node, &reading).map { .predicate($0) }
    }
    return ValueFormat<Anchor>.anchor.decode(node, &reading).map { .anchor($0) }
  } encode: { subject in
    switch subject {
    case .anchor(let anchor): ValueFormat<Anchor>.anchor.encode(anchor)
    case .predicate(let predicate): ValueFormat<Predicate>.predicate.encode(predicate)
    }
  }
}

struct MetricDraft: Sendable {
  var metric = Expectation.Metric()
  var bounds = BoundsDraft()
}

/// The undecoded `lt`, `lte`, `gt`, `gte` and `eq`, whose type follows from the compared value.
struct BoundsDraft: Sendable, Equatable {
  var less: YAMLNode?
  var lessOrEqual: YAMLNode?
  var greater: YAMLNode?
  var greaterOrEqual: YAMLNode?
  var equal: YAMLNode?

  private static let raw = ValueFormat<YAMLNode>.node(.anyScalar)

  static let type = MappingType(
    "bounds", "", BoundsDraft(),
    [
      .key("lt", raw, \.less, "less than"),
      .key("lte", raw, \.lessOrEqual, "at most"),
      .key("gt", raw, \.greater, "more than"),
      .key("gte", raw, \.greaterOrEqual, "at least"),
      .key("eq", raw, \.equal, "exactly"),
    ])

  /// Decodes the bounds; nil after reporting.
  ///
  /// - Parameter range: the possible numbers of the compared value.
  func bounds(
    of type: ValueType, unit: String?, within range: NumberRange, at node: YAMLNode, _ reading: inout Reading
  ) -> [Expectation.Bound]? {
    let written: [(Comparison, YAMLNode?)] = [
      (.less, less), (.lessOrEqual, lessOrEqual), (.greater, greater), (.greaterOrEqual, greaterOrEqual),
      (.equal, equal),
    ]
    var bounds: [Expectation.Bound] = []
    for case (let comparison, let node?) in written {
      guard let scalar = ValueFormat<YAMLScalar>.scalar.decode(node, &reading) else { return nil }
      let value = Value(scalar)
      switch type.check(value, unit: unit) {
      case .fits: bounds.append(Expectation.Bound(comparison: comparison, value: value, span: node.span))
      case .needsUnit(let unit):
        let hint = Quantity.hint(scalar.text, unit: unit)
        reading.report(.missingUnit, "\(scalar.text) has no unit", at: node.span, hint: hint)
        return nil
      case .differs(let wanted):
        reading.report(.wrongType, "expected \(wanted), found \(node.description)", at: node.span)
        return nil
      }
    }
    guard !bounds.isEmpty else {
      reading.report(.noBound, "nothing is compared; add lt, lte, gt, gte or eq", at: node.span)
      return nil
    }
    return Self.decides(bounds, within: range, type, unit, &reading) ? nil : bounds
  }

  /// Reports bounds that all possible numbers meet, or none; returns true when it did.
  private static func decides(
    _ bounds: [Expectation.Bound], within range: NumberRange, _ type: ValueType, _ unit: String?,
    _ reading: inout Reading
  ) -> Bool {
    let rest = range.meeting(bounds)
    guard let last = bounds.last, rest.isEmpty || rest == range else { return false }
    let hasFraction = bounds.contains { $0.value.number.map { $0 != $0.rounded() } ?? false }
    let whole = range.isWhole && hasFraction ? "a whole number, " : ""
    let text = range.text { Wording.quantity($0, type, unit: unit) }.map { ": it is \(whole)\($0)" } ?? ""
    if rest.isEmpty {
      let isAlone = !NumberRange().meeting(bounds).isEmpty
      let message = isAlone ? "no value meets this\(text)" : "no value meets all these bounds"
      reading.report(.impossibleBound, message, at: last.span)
    } else {
      reading.report(.cannotFail, "every value meets this\(text)", at: last.span)
    }
    return true
  }
}

extension Expectation.Sequence.Step {
  private static let type = MappingType(
    "step", "a value and the time by which it is reached", Expectation.Sequence.Step(),
    [
      .key("state", ValueFormat<String>.text.located, \.value, required: true, "the value"),
      .key("by", .duration(.positive), \.by, "at the latest so long after 'of'"),
    ])

  static let format = ValueFormat<Expectation.Sequence.Step>.either(
    scalar: ValueFormat<String>.text.map { text, span, _ in
      var step = Expectation.Sequence.Step()
      step.value = Located(text, at: span)
      return step
    } back: {
      $0.value.value
    }, mapping: type.format, isScalar: { $0.by == nil })
}

extension Expectation.Recovers.Target {
  static let format = ValueFormat<Expectation.Recovers.Target>(.text) { node, reading in
    if node.scalar?.text == Expectation.Recovers.mediaBothWays { return .mediaBothWays }
    let word = node.scalar?.text ?? ""
    if let near = Suggestion.nearest(to: word, among: [Expectation.Recovers.mediaBothWays]),
      !reading.scope.definitionNames.contains(word)
    {
      reading.report(
        .unknownName, "'\(YAMLNode.abbreviated(word))' stands for nothing", at: node.span,
        hint: "did you mean '\(near)'?")
      return nil
    }
    return ValueFormat<Predicate>.predicate.decode(node, &reading).map { .predicate($0) }
  } encode: { target in
    switch target {
    case .mediaBothWays: .text(Expectation.Recovers.mediaBothWays)
    case .predicate(let predicate): ValueFormat<Predicate>.predicate.encode(predicate)
    }
  }
}

extension Expectation.Statistic {
  private static let names: [(String, Expectation.Statistic)] = [
    ("last", .last), ("first", .first), ("min", .minimum), ("max", .maximum), ("mean", .mean), ("sum", .sum),
    ("count", .count), ("rate", .rate), ("delta", .delta),
  ]

  static let words =
    "the statistic of the window: first, last, min, max, mean, sum or count of the samples, p1 to p99, delta (last minus "
    + "first) or rate (delta per second)"

  static let format = ValueFormat<Expectation.Statistic>(
    .pattern("^(\(names.map(\.0).joined(separator: "|"))|p[1-9][0-9]?)$")
  ) {
    node, reading in
    let text = node.scalar?.text ?? ""
    if let known = names.first(where: { $0.0 == text }) { return known.1 }
    if text.hasPrefix("p"), let percent = Int(text.dropFirst()), (1...99).contains(percent) {
      return .percentile(percent)
    }
    let isPercentile = text.hasPrefix("p") && text.count > 1 && text.dropFirst().allSatisfy(\.isNumber)
    let hint =
      isPercentile
      ? "percentiles are p1 to p99, and the largest value is max"
      : Suggestion.hint(for: text, among: names.map(\.0) + ["p5", "p10", "p50", "p90", "p95", "p99"])
        ?? "there are: \(names.map(\.0).joined(separator: ", ")), and p1 to p99"
    reading.report(.notAChoice, "'\(YAMLNode.abbreviated(text))' is no statistic", at: node.span, hint: hint)
    return nil
  } encode: { statistic in
    if case .percentile(let percent) = statistic { return .text("p\(percent)") }
    return .text(names.first { $0.1 == statistic }?.0 ?? "last")
  }

  /// Returns the type and unit of a bound on the statistic. A rate of bytes is a bit rate.
  package func result(of path: ValuePath) -> (ValueType, String?) {
    switch self {
    case .count: (.count, nil)
    case .rate where path.unit == "bytes" || path.type == .byteSize: (.rate, nil)
    case .rate: (.real, nil)
    default: (path.type, path.unit)
    }
  }
}

extension ValueFormat where Value == Window {
  /// Reads `[from, to]`.
  static var window: ValueFormat<Window> {
    let pair = ValueFormat<Anchor>.anchor.list(atLeast: 2, atMost: 2)
    return pair.map { anchors, _, _ in
      Window(from: anchors[0], to: anchors[1])
    } back: { window in
      [window.from ?? Anchor(kind: .time(.zero)), window.to ?? Anchor(kind: .end)]
    }
  }
}
