import CallCore

/// The undecoded `compare` of a file.
struct CompareDraft: Sendable, Equatable {
  var pairing = Scenario.Arms.Pairing.channel
  var baseline: Located<String>?
  var arms: [Named<YAMLNode>] = []
  /// Decoded in each cell, once its names are known.
  var measures: YAMLNode?

  static let type = MappingType(
    "compare", "the same scenario in several arms, run by run on the identical channel", CompareDraft(),
    [
      .key(
        "arms", ValueFormat<YAMLNode>.node(.named(.either([.anyScalar, .named(.anyScalar)]))).named, \.arms,
        required: true,
        "the arms by name, each with the settings it changes: { alice.audio.fec: true }; {} for the file as it is"),
      .key(
        "baseline", ValueFormat<String>.text.located, \.baseline, default: "the first",
        "the arm that the others are compared with"),
      .key(
        "pair_by", .choice, \.pairing, default: "channel",
        "what the runs of a pair have in common: the channel, or the seed alone if arms change the network"),
      .key(
        "measure", .node(.list(.either([.text, .mapping(MeasureDraft.type.shape)]), 1...100)), \.measures,
        default: "what is known of each peer's calls", "the numbers to compare"),
    ])
}

/// A number to compare, without a bound.
struct MeasureDraft: Sendable {
  var metric = MeasureDraft.mean
  var better: Located<Expectation.Delta.Better>?

  /// A number of a whole run is its mean.
  static let mean = {
    var metric = Expectation.Metric()
    metric.statistic = .mean
    return metric
  }()

  static let type = MappingType(
    "measure", "a number to compare", MeasureDraft(),
    [
      .key("metric", .numericPath, \.metric.value, required: true, "the watched number"),
      .key(
        "stat", Expectation.Statistic.format, \.metric.statistic, default: "mean",
        "in each run \(Expectation.Statistic.words)"),
      .key("window", .window, \.metric.window, default: "the whole run", "the window"),
      .key("better", DeltaDraft.direction, \.better, default: "none", DeltaDraft.directionSummary),
    ])

  static let format = ValueFormat<MeasureDraft>.either(
    scalar: ValueFormat<ValuePath>.numericPath.map { path, _, _ in
      var draft = MeasureDraft()
      draft.metric.value = path
      return draft
    } back: {
      $0.metric.value
    }, mapping: type.format,
    isScalar: { $0.metric.statistic == .mean && $0.metric.window == Window() && $0.better == nil })
}

/// The undecoded `delta` expectation.
struct DeltaDraft: Sendable {
  var delta = {
    var delta = Expectation.Delta()
    delta.metric.statistic = .mean
    return delta
  }()
  var better: Located<Expectation.Delta.Better>?
  var interval: Located<Double>?
  var precision: YAMLNode?
  var bounds = BoundsDraft()

  static let direction = ValueFormat<Expectation.Delta.Better>.choice.located
  static let directionSummary = "whether more of it is better, for a number that has no direction by its meaning"

  private static let confidence = ValueFormat<Double>.percentage().checked {
    (0.5..<1).contains($0) ? nil : "an interval covers at least 50% and less than 100%"
  }

  static let type = MappingType(
    "delta", "the difference of a number between two arms, run by run, with its interval", DeltaDraft(),
    [
      .key("delta", .numericPath, \.delta.metric.value, required: true, "the watched number"),
      .key(
        "arms", ValueFormat<String>.text.located.list(atLeast: 2, atMost: 2).distinct(\.value), \.delta.arms,
        required: true, "the two arms: that of the first minus that of the second"),
      .key(
        "stat", Expectation.Statistic.format, \.delta.metric.statistic, default: "mean",
        "in each run \(Expectation.Statistic.words)"),
      .key("window", .window, \.delta.metric.window, default: "the whole run", "the window"),
      .key(
        "interval", confidence.located, \.interval, default: "95%",
        "the confidence of the interval, all of which must meet the bounds"),
      .key(
        "precision", .node(.anyScalar), \.precision,
        "half the width of the interval that is enough: callsim compare then makes no further runs"),
      .key("better", direction, \.better, default: "none", directionSummary),
    ] + BoundsDraft.type.keys(of: \DeltaDraft.bounds))
}

extension DeltaDraft {
  /// - Precondition: the delta has bounds.
  init(_ delta: Expectation.Delta) {
    self.delta = delta
    better = delta.better.map { Located($0) }
    interval = delta.confidence == 0.95 ? nil : Located(delta.confidence)
    precision = delta.precision.map { ValueFormat<Value>.any.encode($0) }
    bounds = BoundsDraft(delta.bounds)
  }

  /// Decodes what depends on the type of the number; nil after reporting.
  func decoded(_ node: YAMLNode, _ reading: inout Reading) -> Expectation.Delta? {
    var delta = delta
    guard !reading.arms.isEmpty else {
      reading.report(
        .conflictingKeys, "a difference is between arms, and the scenario has none",
        at: node.entry("delta")?.keySpan ?? node.span, hint: "declare them: compare: { arms: { … } }")
      return nil
    }
    for arm in delta.arms where !reading.arms.contains(arm.value) {
      reading.reportUnknown(.unknownName, "arm", arm.value, among: reading.arms, at: arm.span)
      return nil
    }
    delta.confidence = interval?.value ?? delta.confidence
    delta.better = better?.value
    delta.metric.checkDirection(better, &reading)
    let (type, unit) = delta.metric.statistic.result(of: delta.metric.value)
    if let precision {
      var draft = BoundsDraft()
      draft.less = precision
      guard let bound = draft.bounds(of: type, unit: unit, within: NumberRange(from: 0), at: node, &reading)?.first
      else { return nil }
      delta.precision = bound.value
    }
    let range = delta.metric.statistic.range(of: delta.metric.value).differences
    guard let bounds = bounds.bounds(of: type, unit: unit, within: range, at: node, &reading) else { return nil }
    delta.bounds = bounds
    return delta
  }
}
