/// Reduces a scenario step by step to a smaller one that still fails alike.
///
/// The owner plays the candidates and says which is the first that fails alike; that one is reduced further. Candidates
/// that are no valid scenarios are never proposed. The order of candidates depends on the scenario alone, so the result
/// does too, however many are played at a time.
package struct ScenarioReducer {
  private let registry: ProfileRegistry
  private var root: YAMLNode
  private var pass = 0
  /// The index of the next edit of the pass.
  private var next = 0
  private var hasChanged = false
  private var proposed: [(index: Int, root: YAMLNode)] = []
  private var seen: Set<String> = []

  /// Creates a reducer; nil if the text is no valid scenario.
  package init?(text: String, registry: ProfileRegistry) {
    guard let document = YAMLDocument(Array(text.utf8)), Self.isValid(text, registry) else { return nil }
    self.registry = registry
    root = document.root
    seen = [text]
  }

  /// The smallest scenario so far.
  package var text: String { YAMLWriter.text(of: root) }

  /// Returns the number of timeline entries.
  package var entryCount: Int { root["timeline"]?.items?.count ?? 0 }

  /// Returns the next candidates, in the order in which they are preferred; empty when there are none left.
  package mutating func candidates(atMost limit: Int) -> [String] {
    var texts: [String] = []
    proposed = []
    while true {
      let edits = ReductionPass.allCases[pass].edits(of: root)
      while next < edits.count, texts.count < limit {
        defer { next += 1 }
        guard let edited = edits[next](root) else { continue }
        let text = YAMLWriter.text(of: edited)
        guard seen.insert(text).inserted, Self.isValid(text, registry) else { continue }
        proposed.append((next, edited))
        texts.append(text)
      }
      if !texts.isEmpty { return texts }
      next = 0
      pass += 1
      if pass < ReductionPass.allCases.count { continue }
      guard hasChanged else { return [] }
      (pass, hasChanged) = (0, false)
    }
  }

  /// Takes the number of the first candidate that fails alike; nil if none does.
  package mutating func took(_ candidate: Int?) {
    guard let candidate else { return }
    root = proposed[candidate].root
    // The edits of what is left begin at the same place: what was there is gone.
    next = proposed[candidate].index
    hasChanged = true
  }

  private static func isValid(_ text: String, _ registry: ProfileRegistry) -> Bool {
    ScenarioFile.load(text: text, path: "reduced.yaml", registry: registry).scenario != nil
  }
}

/// One way of making a scenario smaller. Passes are tried in this order, until none of them changes anything.
private enum ReductionPass: CaseIterable {
  case plainNetworks, timeline, peers, keys, triggers, durations

  typealias Edit = (YAMLNode) -> YAMLNode?

  func edits(of root: YAMLNode) -> [Edit] {
    switch self {
    case .plainNetworks: Self.plainNetworks(root)
    case .timeline: Self.spans(of: root["timeline"]?.items?.count ?? 0, in: [.key("timeline")])
    case .peers: Self.peers(root)
    case .keys: Self.keys(root)
    case .triggers: Self.triggers(root)
    case .durations: Self.durations(root)
    }
  }

  /// Puts every peer on a network of its own by name, in place of a topology.
  private static func plainNetworks(_ root: YAMLNode) -> [Edit] {
    guard root["topology"] != nil, let peers = root["peers"]?.entries else { return [] }
    return ["internet", "wifi"].map { network in
      { root in
        var plain = root.removing(.key("topology"))
        for peer in peers where peer.value["stack"] == nil {
          plain = plain?.replacing([.key("peers"), .key(peer.key)]) { node in
            node["network"] == nil ? node.inserting("network", .text(network), at: node.entries?.count ?? 0) : node
          }
        }
        return plain
      }
    }
  }

  /// Removes runs of items: half of them, a quarter, and so on to single ones, the last first.
  private static func spans(of count: Int, in path: YAMLPath) -> [Edit] {
    var edits: [Edit] = []
    var size = max(1, count / 2)
    while count > 0 {
      var end = count
      while end > 0 {
        let range = max(0, end - size)..<end
        edits.append { root in
          root.replacing(path[...]) { list in
            range.reversed().reduce(Optional(list)) { list, index in list?.removing(.index(index)) }
          }
        }
        end -= size
      }
      if size == 1 { break }
      size /= 2
    }
    return edits
  }

  /// Removes a peer with every entry that names it.
  private static func peers(_ root: YAMLNode) -> [Edit] {
    (root["peers"]?.entries ?? []).map { peer in
      { root in
        root.replacing([.key("peers")]) { $0.removing(.key(peer.key)) }?
          .replacing([.key("timeline")]) { list in
            guard var copy = Optional(list), let items = list.items else { return list }
            copy.content = .sequence(items.filter { !$0.names(peer.key) })
            return copy
          }
      }
    }
  }

  private static let needed = ["callsim", "id", "title", "why", "peers", "timeline", "expect", "seeds"]

  /// Removes keys, outer ones first, and items of lists besides the timeline.
  private static func keys(_ root: YAMLNode) -> [Edit] {
    root.paths.filter { path in
      guard let last = path.last, !(path.count == 1 && needed.contains { last == .key($0) }) else { return false }
      // The run fails with its own seed.
      if path.first == .key("seeds") { return false }
      // Entries of the timeline and peers have passes of their own.
      if path.count == 2, path[0] == .key("timeline") || path[0] == .key("peers") { return false }
      return true
    }.sorted { $0.count < $1.count }.map { path in
      { root in root.replacing(path.dropLast()) { $0.removing(path[path.count - 1]) } }
    }
  }

  /// Makes entries fire at the start, in place of any other trigger.
  private static func triggers(_ root: YAMLNode) -> [Edit] {
    (root["timeline"]?.items ?? []).indices.map { index in
      { root in
        root.replacing([.key("timeline"), .index(index)]) { entry in
          guard entry["at"] == nil else { return nil }
          let rest = ["after", "of", "when", "every", "until", "times"].reduce(entry) { $0.removing(.key($1)) ?? $0 }
          return rest.inserting("at", .plain("0s"), at: 0)
        }
      }
    }
  }

  private static let rounds = ["0s", "10ms", "100ms", "1s", "2s", "5s", "10s", "20s", "30s", "1m"]

  /// Replaces durations of the timeline by shorter, rounder ones, the roundest first.
  private static func durations(_ root: YAMLNode) -> [Edit] {
    root.paths.filter { $0.first == .key("timeline") }.flatMap { path -> [Edit] in
      guard let text = root.node(at: path)?.scalar?.text, case .value(.duration(let length))? = Quantity.read(text)
      else {
        return []
      }
      return rounds.compactMap { round -> Edit? in
        guard case .value(.duration(let shorter))? = Quantity.read(round), shorter < length else { return nil }
        return { $0.replacing(path[...]) { _ in .plain(round) } }
      }
    }
  }
}

extension YAMLNode {
  /// Returns whether a scalar within is a name, or begins with it and a dot.
  fileprivate func names(_ name: String) -> Bool {
    switch content {
    case .scalar(let scalar):
      scalar.text.split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }.contains { $0 == name }
    case .sequence(let items): items.contains { $0.names(name) }
    case .mapping(let entries): entries.contains { $0.value.names(name) }
    }
  }
}
