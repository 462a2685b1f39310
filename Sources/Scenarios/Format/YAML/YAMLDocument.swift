/// A replacement of some bytes of a text.
struct YAMLEdit: Equatable, Sendable {
  /// The offset of the replaced bytes.
  var start: Int
  var old: [UInt8]
  var new: [UInt8]

  /// The edit that restores the old bytes.
  var inverse: YAMLEdit { YAMLEdit(start: start, old: new, new: old) }
}

/// A YAML text that can be changed at one place while all else stays: comments, quotes, indentation.
///
/// An edit changes the bytes, which are then parsed again. If the result has another meaning because of the layout, the
/// smallest sufficient collection around the place is rewritten.
struct YAMLDocument: Sendable {
  private(set) var bytes: [UInt8]
  private(set) var root: YAMLNode

  /// Parses a text; nil when it has errors.
  init?(_ bytes: [UInt8]) {
    guard let root = Self.read(bytes) else { return nil }
    (self.bytes, self.root) = (bytes, root)
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  private static func read(_ bytes: [UInt8]) -> YAMLNode? {
    var sources = SourceMap()
    var diagnostics: [Diagnostic] = []
    let root = YAMLReader.read(bytes, path: "", usedFrom: nil, into: &sources, diagnostics: &diagnostics)
    return diagnostics.isEmpty ? root : nil
  }

  // MARK: - Edits

  /// Replaces a node.
  ///
  /// - Returns: the edit; nil when there is no node at the path.
  @discardableResult mutating func set(_ path: YAMLPath, to node: YAMLNode) -> YAMLEdit? {
    guard let wanted = root.replacing(path[...], with: { _ in node }) else { return nil }
    return commit(wanted, at: path, YAMLSplice(self, to: path)?.set(node))
  }

  /// Removes an entry of a mapping or an item of a list.
  @discardableResult mutating func remove(_ path: YAMLPath) -> YAMLEdit? {
    guard let step = path.last, let wanted = root.replacing(path.dropLast(), with: { $0.removing(step) }) else {
      return nil
    }
    let outer = YAMLPath(path.dropLast())
    return commit(wanted, at: outer, YAMLSplice(self, to: outer)?.remove(step))
  }

  /// Renames a key of the mapping at a path.
  @discardableResult mutating func rename(_ key: String, in path: YAMLPath, to name: String) -> YAMLEdit? {
    guard let wanted = root.replacing(path[...], with: { $0.renaming(key, to: name) }) else { return nil }
    return commit(wanted, at: path, YAMLSplice(self, to: path)?.rename(key, to: name))
  }

  /// Adds an entry to the mapping at a path.
  @discardableResult mutating func insert(
    _ key: String, _ value: YAMLNode, in path: YAMLPath, at index: Int
  ) -> YAMLEdit? {
    guard let wanted = root.replacing(path[...], with: { $0.inserting(key, value, at: index) }) else { return nil }
    return commit(wanted, at: path, YAMLSplice(self, to: path)?.insert(key: key, value, at: index))
  }

  /// Adds an item to the list at a path.
  @discardableResult mutating func insert(_ item: YAMLNode, in path: YAMLPath, at index: Int) -> YAMLEdit? {
    guard let wanted = root.replacing(path[...], with: { $0.inserting(item, at: index) }) else { return nil }
    return commit(wanted, at: path, YAMLSplice(self, to: path)?.insert(key: nil, item, at: index))
  }

  mutating func apply(_ edit: YAMLEdit) -> Bool {
    let range = edit.start..<(edit.start + edit.old.count)
    guard range.upperBound <= bytes.count, bytes[range].elementsEqual(edit.old) else { return false }
    var edited = bytes
    edited.replaceSubrange(range, with: edit.new)
    guard let document = YAMLDocument(edited) else { return false }
    self = document
    return true
  }

  /// Applies the first edit whose result parses to the wanted tree: the proposed one, then rewrites of outer nodes.
  private mutating func commit(_ wanted: YAMLNode, at path: YAMLPath, _ splice: YAMLEdit?) -> YAMLEdit? {
    if let splice, take(splice, for: wanted) { return splice }
    for count in stride(from: path.count, through: 1, by: -1) {
      let outer = YAMLPath(path.prefix(count))
      guard let node = wanted.node(at: outer), let edit = YAMLSplice(self, to: outer)?.set(node) else { continue }
      if take(edit, for: wanted) { return edit }
    }
    let whole = YAMLEdit(start: 0, old: bytes, new: Array(YAMLWriter.text(of: wanted).utf8))
    return take(whole, for: wanted) ? whole : nil
  }

  private mutating func take(_ edit: YAMLEdit, for wanted: YAMLNode) -> Bool {
    var edited = bytes
    edited.replaceSubrange(edit.start..<(edit.start + edit.old.count), with: edit.new)
    guard let root = Self.read(edited), root == wanted else { return false }
    (bytes, self.root) = (edited, root)
    return true
  }
}
