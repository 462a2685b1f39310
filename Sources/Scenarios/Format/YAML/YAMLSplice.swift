/// Edits of the bytes of one node. Each edit is a proposal, whose result must be parsed again.
struct YAMLSplice {
  private let bytes: [UInt8]
  private let node: YAMLNode
  /// Whether the node is within brackets other than its own.
  private let isInFlow: Bool

  init?(_ document: YAMLDocument, to path: YAMLPath) {
    var node = document.root
    var isInFlow = false
    for step in path {
      guard let inner = node[step] else { return nil }
      if node.style == .flow || node.style == .pair { isInFlow = true }
      node = inner
    }
    (bytes, self.node, self.isInFlow) = (document.bytes, node, isInFlow)
  }

  private var isFlow: Bool { node.style == .flow || node.style == .pair }
  private var column: Int { node.span.column - 1 }
  private var lineBreak: String { bytes.contains(0x0D) ? "\r\n" : "\n" }

  private func edit(_ range: Range<Int>, _ text: String) -> YAMLEdit {
    YAMLEdit(start: range.lowerBound, old: Array(bytes[range]), new: Array(text.utf8))
  }

  private func joined(_ lines: [String]) -> String { lines.joined(separator: lineBreak) }

  // MARK: - Set

  func set(_ new: YAMLNode) -> YAMLEdit? {
    let text = YAMLWriter.flow(new, isInFlow: isInFlow)
    guard node.style == .block else {
      guard node.range.isEmpty else { return edit(node.range, text) }
      return edit(node.range, isAfterSign(node.range.lowerBound) ? " " + text : ": " + text)
    }
    if YAMLWriter.isBlock(new, indent: column) {
      return edit(node.range, joined(YAMLWriter.block(new, indent: column)))
    }
    // A value on its own lines moves up behind its key or dash.
    let start = endOfText(before: node.range.lowerBound)
    guard start > 0, isAfterSign(start), start < node.range.lowerBound else { return edit(node.range, text) }
    return edit(start..<node.range.upperBound, " " + text)
  }

  private func isAfterSign(_ offset: Int) -> Bool {
    offset > 0 && (bytes[offset - 1] == UInt8(ascii: ":") || bytes[offset - 1] == UInt8(ascii: "-"))
  }

  private func endOfText(before offset: Int) -> Int {
    var end = offset
    while end > 0, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[end - 1]) { end -= 1 }
    return end
  }

  // MARK: - Parts

  /// The byte ranges of entries or of items with their dashes; nil when a dash cannot be found.
  private var parts: [Range<Int>]? {
    switch node.content {
    case .scalar: return nil
    case .mapping(let entries):
      return entries.map { $0.keyRange.lowerBound..<max($0.keyRange.upperBound, $0.value.range.upperBound) }
    case .sequence(let items):
      guard !isFlow else { return items.map(\.range) }
      var parts: [Range<Int>] = []
      for item in items {
        var start = item.range.lowerBound
        start = item.range.isEmpty ? start : endOfText(before: start)
        guard start > 0, bytes[start - 1] == UInt8(ascii: "-") else { return nil }
        parts.append((start - 1)..<item.range.upperBound)
      }
      return parts
    }
  }

  private func index(of step: YAMLStep) -> Int? {
    switch step {
    case .key(let key): node.entries?.firstIndex { $0.key == key }
    case .index(let index): index
    }
  }

  private func startOfLine(_ offset: Int) -> Int {
    var start = offset
    while start > 0, bytes[start - 1] != 0x0A { start -= 1 }
    return start
  }

  private func endOfLine(_ offset: Int) -> Int {
    bytes[offset...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
  }

  /// Returns whether only blanks and a comment follow on the line.
  private func isLastOnLine(_ end: Int) -> Bool {
    let rest = bytes[end..<endOfLine(end)].drop { $0 == 0x20 || $0 == 0x09 }
    return rest.isEmpty || rest.first == UInt8(ascii: "#")
  }

  // MARK: - Remove

  func remove(_ step: YAMLStep) -> YAMLEdit? {
    guard let index = index(of: step), let parts, parts.indices.contains(index), node.style != .pair else { return nil }
    if parts.count == 1 { return set(node.items == nil ? .mapping([]) : .list([])) }
    let part = parts[index]
    if isFlow {
      return index + 1 < parts.count
        ? edit(part.lowerBound..<parts[index + 1].lowerBound, "")
        : edit(parts[index - 1].upperBound..<part.upperBound, "")
    }
    let start = startOfLine(part.lowerBound)
    guard isLastOnLine(part.upperBound) else { return nil }
    if bytes[start..<part.lowerBound].allSatisfy({ $0 == 0x20 }) {
      let end = endOfLine(part.upperBound)
      guard end == bytes.count else { return edit(start..<(end + lengthOfBreak(end)), "") }
      // The last line of the text is removed with the line break before it.
      return edit(endOfPreviousLine(start)..<end, "")
    }
    // The first entry is on the line of a dash, so the next one moves up.
    guard index + 1 < parts.count else { return nil }
    return edit(part.lowerBound..<parts[index + 1].lowerBound, "")
  }

  private func lengthOfBreak(_ offset: Int) -> Int {
    bytes[offset] == 0x0D && offset + 1 < bytes.count && bytes[offset + 1] == 0x0A ? 2 : 1
  }

  private func endOfPreviousLine(_ start: Int) -> Int {
    guard start > 0 else { return 0 }
    return start > 1 && bytes[start - 2] == 0x0D ? start - 2 : start - 1
  }

  // MARK: - Rename and insert

  func rename(_ key: String, to name: String) -> YAMLEdit? {
    guard let entry = node.entry(key) else { return nil }
    return edit(entry.keyRange, YAMLWriter.key(name, isInFlow: isInFlow || isFlow))
  }

  /// Returns the edit that inserts an entry or an item.
  ///
  /// - Parameter key: nil for an item of a list.
  func insert(key: String?, _ value: YAMLNode, at index: Int) -> YAMLEdit? {
    guard let parts, node.style != .pair, index <= parts.count else { return nil }
    guard !isFlow else { return insertInFlow(key, value, at: index, parts) }
    guard let last = parts.last else { return nil }
    let lines =
      key.map { YAMLWriter.entry($0, value, indent: column) } ?? YAMLWriter.block(.list([value]), indent: column)
    let margin = String(repeating: " ", count: column)
    if index < parts.count {
      let start = parts[index].lowerBound
      return edit(start..<start, joined(lines) + lineBreak + margin)
    }
    guard isLastOnLine(last.upperBound) else { return nil }
    let end = endOfLine(last.upperBound)
    return edit(end..<end, lineBreak + margin + joined(lines))
  }

  private func insertInFlow(_ key: String?, _ value: YAMLNode, at index: Int, _ parts: [Range<Int>]) -> YAMLEdit? {
    let text =
      (key.map { YAMLWriter.key($0, isInFlow: true) + ": " } ?? "") + YAMLWriter.flow(value, isInFlow: true)
    guard let last = parts.last else { return edit(node.range, key == nil ? "[\(text)]" : "{ \(text) }") }
    if index < parts.count {
      let start = parts[index].lowerBound
      return edit(start..<start, text + ", ")
    }
    return edit(last.upperBound..<last.upperBound, ", " + text)
  }
}
