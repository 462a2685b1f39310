package import ScenarioFormat
internal import ScenarioJudge
internal import Vocabulary

extension ArmComparison {
  /// A number that is compared, and its value in each run.
  package struct Number: Sendable {
    /// What the number is.
    package enum Kind: Sendable, Equatable {
      /// A metric without bounds.
      case metric(Expectation.Metric)
      /// What a scorer says of the speech that a peer heard in a window.
      case score(scorer: String, peer: String, Window)
      /// The share of a processor that all encoders take over the run, or all decoders.
      case processor(Coding)

      init(_ metric: Expectation.Metric) {
        var metric = metric
        (metric.bounds, metric.across) = ([], .run)
        self = .metric(metric)
      }
    }

    /// The two sides of a codec.
    package enum Coding: String, Sendable, CaseIterable {
      case encoders, decoders
    }

    package let kind: Kind
    /// The direction of improvement; nil if it has none.
    package var better: Expectation.Delta.Better?
    /// The values by arm and seed.
    package var samples: [String: [UInt64: Double]] = [:]

    package init(kind: Kind, better: Expectation.Delta.Better? = nil) {
      self.kind = kind
      self.better = better
    }

    /// The name without the window: `bob.q.mos mean`, `bob.pesq`.
    package var title: String {
      switch kind {
      case .metric(let metric): "\(metric.value) \(metric.statistic)"
      case .score(let scorer, let peer, _): "\(peer).\(scorer)"
      case .processor(let coding): "\(coding.rawValue), share of a processor of this machine"
      }
    }

    /// The name, such as `bob.q.mos mean [lossy, bye]`.
    package var name: String {
      guard window != Window() else { return title }
      return "\(title) [\(window.from?.text ?? "start"), \(window.to?.text ?? "end")]"
    }

    private var window: Window {
      switch kind {
      case .metric(let metric): metric.window
      case .score(_, _, let window): window
      case .processor: Window()
      }
    }

    /// Returns a value with its unit.
    package func text(of value: Double) -> String {
      switch kind {
      case .metric(let metric): metric.text(of: value)
      case .score: Wording.quantity(value, .real)
      case .processor: Wording.quantity(value, .percentage)
      }
    }

    /// The values of an arm in the order of the seeds.
    package func values(of arm: String) -> [Double] {
      (samples[arm] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether any run has a value.
    var hasSamples: Bool { samples.values.contains { !$0.isEmpty } }

    /// Whether it is a number of the scenario.
    var isMetric: Bool { if case .metric = kind { true } else { false } }

    /// Whether it is a value of a scenario with this name, such as `q.mos`.
    func measures(_ name: String) -> Bool {
      if case .metric(let metric) = kind { metric.value.name == name } else { false }
    }

    /// Whether it was measured on this machine, and decides nothing.
    var isOfThisMachine: Bool { if case .processor = kind { true } else { false } }

    /// Whether it is what an arm costs on the wire.
    var isCost: Bool {
      guard case .metric(let metric) = kind else { return false }
      return metric.value.name.hasSuffix("bytesSent") && metric.statistic == .rate
    }

    /// Whether it is what an arm gains or loses.
    var isScore: Bool { better != nil && !isCost }
  }
}
