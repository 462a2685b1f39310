import CallCore

/// Generates valid scenarios from all features of the format; the same seed gives the same sequence.
///
/// A random sketch is made from the declarations of keys, faults, expectations and the profile's vocabulary. Parts that
/// the reader refuses are removed until the rest is a scenario.
public struct ScenarioGenerator: ~Copyable {
  private let registry: ProfileRegistry
  private var random: RandomStream

  /// Creates a generator for the first profile of a registry.
  public init(registry: ProfileRegistry, seed: UInt64) {
    self.registry = registry
    random = RandomSource(seed: seed).stream("scenarios")
  }

  /// Returns the next scenario.
  public mutating func next() -> Scenario {
    while true {
      var sketch = ScenarioSketch(registry: registry, random: random.uniform(below: .max))
      if let scenario = SketchTrimmer(registry).scenario(of: sketch.root()) { return scenario }
    }
  }
}

/// Removes invalid parts from a tree of keys.
private struct SketchTrimmer {
  /// The keys whose removal would make their mapping useless.
  private static let kept = [
    "callsim", "id", "peers", "topology", "networks", "links", "servers", "cidr", "from", "to", "kind", "network",
    "profile", "timeline", "expect", "run", "define", "stack", "nat",
  ]
  private let registry: ProfileRegistry

  init(_ registry: ProfileRegistry) { self.registry = registry }

  func scenario(of root: YAMLNode) -> Scenario? {
    var root = root
    for _ in 0..<12 {
      let text = YAMLWriter.text(of: root)
      let loaded = ScenarioFile.load(text: text, path: "generated.yaml", registry: registry)
      if let scenario = loaded.scenario?.cells.first?.scenario { return scenario }
      guard let document = YAMLDocument(Array(text.utf8)) else { return nil }
      let problems = loaded.diagnostics.filter { $0.code.severity == .error }
      let paths = Set(problems.compactMap { path(at: $0.span, in: document) })
      guard !paths.isEmpty else { return nil }
      // In reverse order, so that the indices of earlier items stay valid.
      for path in paths.sorted(by: { Self.isBefore($1, $0) }) {
        guard let step = path.last else { return nil }
        root = root.replacing(path.dropLast()) { $0.removing(step) } ?? root
      }
    }
    return nil
  }

  private static func isBefore(_ a: YAMLPath, _ b: YAMLPath) -> Bool {
    for (one, other) in zip(a, b) where one != other {
      switch (one, other) {
      case (.index(let one), .index(let other)): return one < other
      case (.key(let one), .key(let other)): return one < other
      case (.index, .key): return true
      case (.key, .index): return false
      }
    }
    return a.count < b.count
  }

  /// Returns the path to remove for a problem: a list entry of the timeline or of `expect`, else the innermost
  /// removable key.
  private func path(at span: SourceSpan, in document: YAMLDocument) -> YAMLPath? {
    guard let offset = document.offset(of: span) else { return nil }
    var path: YAMLPath = []
    var node = document.root
    while let (step, inner) = node.step(at: offset) {
      path.append(step)
      node = inner
    }
    if let index = path.firstIndex(where: { if case .index = $0 { true } else { false } }),
      [.key("timeline"), .key("expect")].contains(path.first)
    {
      return Array(path[...index])
    }
    while let last = path.last {
      if case .key(let key) = last, !Self.kept.contains(key) { return path }
      path.removeLast()
    }
    return nil
  }
}

extension YAMLNode {
  /// Returns the part of a collection that contains a byte.
  fileprivate func step(at offset: Int) -> (YAMLStep, YAMLNode)? {
    switch content {
    case .scalar: return nil
    case .sequence(let items):
      let index = items.firstIndex { ($0.range.lowerBound...$0.range.upperBound).contains(offset) }
      return index.map { (.index($0), items[$0]) }
    case .mapping(let entries):
      let entry = entries.first {
        ($0.keyRange.lowerBound...max($0.keyRange.upperBound, $0.value.range.upperBound)).contains(offset)
      }
      return entry.map { (.key($0.key), $0.value) }
    }
  }
}

extension YAMLDocument {
  fileprivate func offset(of span: SourceSpan) -> Int? {
    var line = 1
    var start = 0
    while line < span.line {
      guard let end = bytes[start...].firstIndex(of: 0x0A) else { return nil }
      start = end + 1
      line += 1
    }
    // Generated texts are ASCII.
    return start + span.column - 1
  }
}
