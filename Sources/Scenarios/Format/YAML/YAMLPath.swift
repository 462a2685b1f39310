/// A step from a node to a node within it.
enum YAMLStep: Hashable, Sendable {
  case key(String)
  case index(Int)
}

typealias YAMLPath = [YAMLStep]

// Changes of trees, independent of a text.
extension YAMLNode {
  subscript(_ step: YAMLStep) -> YAMLNode? {
    switch step {
    case .key(let key): return self[key]
    case .index(let index):
      guard let items, items.indices.contains(index) else { return nil }
      return items[index]
    }
  }

  func node(at path: some Sequence<YAMLStep>) -> YAMLNode? {
    var node: YAMLNode? = self
    for step in path { node = node?[step] }
    return node
  }

  /// The paths of this node and of all nodes within it.
  var paths: [YAMLPath] {
    switch content {
    case .scalar: [[]]
    case .sequence(let items):
      [[]] + items.indices.flatMap { index in items[index].paths.map { [.index(index)] + $0 } }
    case .mapping(let entries): [[]] + entries.flatMap { entry in entry.value.paths.map { [.key(entry.key)] + $0 } }
    }
  }

  /// Returns the tree with a changed node at a path, or nil when there is no such node.
  func replacing(_ path: ArraySlice<YAMLStep>, with change: (YAMLNode) -> YAMLNode?) -> YAMLNode? {
    guard let step = path.first else { return change(self) }
    guard let inner = self[step]?.replacing(path.dropFirst(), with: change) else { return nil }
    var copy = self
    switch (content, step) {
    case (.sequence(var items), .index(let index)):
      items[index] = inner
      copy.content = .sequence(items)
    case (.mapping(var entries), .key(let key)):
      guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
      entries[index].value = inner
      copy.content = .mapping(entries)
    default: return nil
    }
    return copy
  }

  /// Returns the collection without the entry or item of a step.
  func removing(_ step: YAMLStep) -> YAMLNode? {
    var copy = self
    switch (content, step) {
    case (.sequence(var items), .index(let index)) where items.indices.contains(index):
      items.remove(at: index)
      copy.content = .sequence(items)
    case (.mapping(var entries), .key(let key)) where entries.contains { $0.key == key }:
      entries.removeAll { $0.key == key }
      copy.content = .mapping(entries)
    default: return nil
    }
    return copy
  }

  /// Returns the mapping with a renamed key; nil when it lacks the key, or has the new name already.
  func renaming(_ key: String, to name: String) -> YAMLNode? {
    guard var entries, let index = entries.firstIndex(where: { $0.key == key }), self[name] == nil else { return nil }
    entries[index].key = name
    var copy = self
    copy.content = .mapping(entries)
    return copy
  }

  /// Returns the mapping with a further entry; nil when it has the key already.
  func inserting(_ key: String, _ value: YAMLNode, at index: Int) -> YAMLNode? {
    guard var entries, self[key] == nil, (0...entries.count).contains(index) else { return nil }
    entries.insert(Entry(key: key, keySpan: .builtIn, value: value), at: index)
    var copy = self
    copy.content = .mapping(entries)
    return copy
  }

  /// Returns the list with a further item.
  func inserting(_ item: YAMLNode, at index: Int) -> YAMLNode? {
    guard var items, (0...items.count).contains(index) else { return nil }
    items.insert(item, at: index)
    var copy = self
    copy.content = .sequence(items)
    return copy
  }
}
