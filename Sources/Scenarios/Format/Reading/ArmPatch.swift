/// The changes of one arm to a scenario file, before anything of it is decoded.
struct ArmPatch: Sendable {
  let name: String
  let span: SourceSpan
  /// Dotted paths with their new values: `alice.audio.fec: true`.
  let changes: [YAMLNode.Entry]

  /// The parts of a scenario that an arm can change, besides its peers.
  private static let sections = ["topology"]
  /// The keys of a peer that choose its network.
  private static let networkKeys = ["network", "networks", "lan"]

  /// The changes as written: `alice.audio.fec: true`.
  var text: String { changes.map { "\($0.key): \($0.value.flowItem)" }.joined(separator: ", ") }

  /// Returns the file with the changes.
  func applied(to root: YAMLNode, _ reading: inout Reading) -> YAMLNode {
    checkKeys(&reading)
    var root = root
    for change in changes {
      guard let path = path(of: change, in: root, &reading) else { continue }
      if let changed = Self.set(path[...], to: change.value, in: root) {
        root = changed
      } else {
        reading.report(
          .wrongNode, "'\(change.key)' leads through a value that is no mapping", at: change.keySpan,
          hint: "give the whole of it, { … }")
      }
    }
    return root
  }

  /// Reports a key that two paths set.
  private func checkKeys(_ reading: inout Reading) {
    var seen: Set<String> = []
    for change in changes {
      for leaf in Self.leaves(change.value, below: change.key) where !seen.insert(leaf).inserted {
        reading.report(
          .duplicateKey, "the arm '\(name)' sets '\(YAMLNode.abbreviated(leaf))' twice", at: change.keySpan,
          hint: "leave one of them out")
      }
    }
  }

  /// The dotted paths of all values that are set.
  var leaves: [String] { changes.flatMap { Self.leaves($0.value, below: $0.key) } }

  /// Returns the dotted paths of all values below a node.
  private static func leaves(_ node: YAMLNode, below path: String) -> [String] {
    guard let entries = node.entries, !entries.isEmpty else { return [path] }
    return entries.flatMap { leaves($0.value, below: "\(path).\($0.key)") }
  }

  /// Reports changes of the network, after which two arms cannot meet the same channel.
  func checkNetwork(in root: YAMLNode, _ reading: inout Reading) {
    for change in changes {
      let path = change.key.split(separator: ".").map(String.init)
      let isPeer = path.first.map { root["peers"]?[$0] != nil } ?? false
      let keys = path.count > 1 ? [path[1]] : change.value.entries?.map(\.key) ?? []
      guard isPeer ? Self.networkKeys.contains(where: keys.contains) : path.first == "topology" else { continue }
      reading.report(
        .conflictingKeys, "the arm '\(name)' changes the network, so that nothing is paired", at: change.keySpan,
        hint: "make it a variable of matrix, or write pair_by: seed to compare different networks")
    }
  }

  private func path(of change: YAMLNode.Entry, in root: YAMLNode, _ reading: inout Reading) -> [String]? {
    let parts = change.key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let peers = root["peers"]?.entries?.map(\.key) ?? []
    guard !parts.contains(""), let first = parts.first else {
      reading.report(
        .badName, "'\(YAMLNode.abbreviated(change.key))' is no path", at: change.keySpan,
        hint: "write PEER.KEY, such as alice.audio.fec")
      return nil
    }
    if peers.contains(first) { return ["peers"] + parts }
    if Self.sections.contains(first) { return parts }
    reading.reportUnknown(
      .unknownName, "part of the scenario", first, among: peers + Self.sections, at: change.keySpan)
    return nil
  }

  /// Returns the node with a value set; nil where the path leads through something else than a mapping.
  private static func set(_ path: ArraySlice<String>, to value: YAMLNode, in node: YAMLNode) -> YAMLNode? {
    guard let key = path.first else { return value.merged(over: node) }
    guard var entries = node.entries else { return nil }
    let rest = path.dropFirst()
    if let index = entries.firstIndex(where: { $0.key == key }) {
      guard let changed = set(rest, to: value, in: entries[index].value) else { return nil }
      entries[index].value = changed
    } else {
      // Inner ones first.
      let made = rest.reversed().reduce(value) { inner, key in
        YAMLNode(
          content: .mapping([YAMLNode.Entry(key: key, keySpan: value.span, value: inner)]), span: value.span)
      }
      entries.append(YAMLNode.Entry(key: key, keySpan: value.span, value: made))
    }
    var copy = node
    copy.content = .mapping(entries)
    return copy
  }
}

extension YAMLNode {
  /// Returns the node with the keys that it lacks and the other has, down to any depth; the node itself if either is no
  /// mapping.
  func merged(over other: YAMLNode) -> YAMLNode {
    guard var own = entries, let others = other.entries else { return self }
    for entry in others {
      if let index = own.firstIndex(where: { $0.key == entry.key }) {
        own[index].value = own[index].value.merged(over: entry.value)
      } else {
        own.append(entry)
      }
    }
    var copy = self
    copy.content = .mapping(own)
    return copy
  }
}
