import CallCore
import Foundation
import Testing

@testable import ScenarioFormat

/// Edits of a text change one place and leave the others alone.
@Suite struct `An edit of a text` {
  private static func check(
    _ text: String, _ wanted: String, _ place: SourceLocation = #_sourceLocation,
    _ edit: (inout YAMLDocument) -> YAMLEdit?
  ) {
    guard var document = YAMLDocument(Array(text.utf8)), let made = edit(&document) else {
      Issue.record("not made", sourceLocation: place)
      return
    }
    #expect(document.text == wanted, sourceLocation: place)
    let isUndone = document.apply(made.inverse)
    #expect(isUndone && document.text == text, sourceLocation: place)
  }

  @Test func `keeps comments, quotes and indentation`() {
    let text = "# head\na:   'x' # one\nb:\n    c: 1   # two\n    # three\n    d: [ 1,2 , {e: f} ]\n\n# tail\n"
    Self.check(text, text.replacing("c: 1", with: "c: 2")) { $0.set([.key("b"), .key("c")], to: .plain("2")) }
    Self.check(text, text.replacing("1,2 ,", with: "1,\"a, b\" ,")) {
      $0.set([.key("b"), .key("d"), .index(1)], to: .text("a, b"))
    }
    Self.check(text, text.replacing("    c: 1   # two\n", with: "")) { $0.remove([.key("b"), .key("c")]) }
    Self.check(text, text.replacing("1,2", with: "2")) { $0.remove([.key("b"), .key("d"), .index(0)]) }
    Self.check(text, text.replacing(" , {e: f}", with: "")) { $0.remove([.key("b"), .key("d"), .index(2)]) }
    Self.check(text, text.replacing("c: 1", with: "cc: 1")) { $0.rename("c", in: [.key("b")], to: "cc") }
    Self.check(text, text.replacing("    d:", with: "    g: 3\n    d:")) {
      $0.insert("g", .plain("3"), in: [.key("b")], at: 1)
    }
    Self.check(text, text.replacing("{e: f}", with: "{e: f}, 4")) {
      $0.insert(.plain("4"), in: [.key("b"), .key("d")], at: 3)
    }
  }

  @Test func `of a list of mappings keeps the dashes`() {
    let text = "list:\n  - a: 1\n    b: 2\n\n  # second\n  - { c: 3 }\n  -\n    d: 4\n"
    Self.check(text, text.replacing("a: 1\n    ", with: "")) { $0.remove([.key("list"), .index(0), .key("a")]) }
    Self.check(text, text.replacing("  - { c: 3 }\n", with: "")) { $0.remove([.key("list"), .index(1)]) }
    Self.check(text, text.replacing("  - { c", with: "  - { e: 5 }\n  - { c")) {
      $0.insert(.mapping([("e", .plain("5"))]), in: [.key("list")], at: 1)
    }
    Self.check("a:\n  b: 1\n", "a: {}\n") { $0.remove([.key("a"), .key("b")]) }
    Self.check("a:\n  b: 1", "a:\n  b: 1\n  c: 2") { $0.insert("c", .plain("2"), in: [.key("a")], at: 1) }
    Self.check("a:\nb: 1\n", "a: 2\nb: 1\n") { $0.set([.key("a")], to: .plain("2")) }
  }

  private static let files: [String] = {
    ["scenarios", "Tests/ScenariosTests/Valid", "Tests/ScenariosTests/Broken"].flatMap { folder in
      let path = FormatTest.folder + "../../" + folder
      return (FileManager.default.subpaths(atPath: path) ?? []).sorted().filter { $0.hasSuffix(".yaml") }
        .map { path + "/" + $0 }
    }
  }()

  private static let pieces: [YAMLNode] = [
    .plain("7"), .text("a: b"), .text("x, [y]"), .text("1"), .text("two\nlines"), .list([]), .mapping([]), .plain("~"),
    .list([.plain("1"), .mapping([("k", .text("v # w"))])]), .mapping([("k", .mapping([("l", .list([.plain("2")]))]))]),
  ]

  @Test func `of any file at any place reads back as wanted, and undone is the file`() {
    var random = RandomSource(seed: 1).stream("yaml/edits")
    func pick(_ count: Int) -> Int { Int(random.uniform(below: UInt64(max(1, count)))) }
    var (made, whole) = (0, 0)
    for file in Self.files {
      guard let bytes = FileManager.default.contents(atPath: file).map(Array.init),
        let document = YAMLDocument(bytes.starts(with: [0xEF]) ? Array(bytes.dropFirst(3)) : bytes)
      else { continue }
      let paths = document.root.paths
      for _ in 0..<12 {
        var copy = document
        let path = paths[pick(paths.count)]
        guard let node = copy.root.node(at: path) else { continue }
        let piece = Self.pieces[pick(Self.pieces.count)]
        let (wanted, edit): (YAMLNode?, YAMLEdit?)
        switch pick(5) {
        case 0:
          wanted = document.root.replacing(path[...]) { _ in piece }
          edit = copy.set(path, to: piece)
        case 1:
          guard let step = path.last else { continue }
          wanted = document.root.replacing(path.dropLast()) { $0.removing(step) }
          edit = copy.remove(path)
        case 2:
          guard let entries = node.entries, let entry = entries.dropFirst(pick(entries.count)).first else { continue }
          wanted = document.root.replacing(path[...]) { $0.renaming(entry.key, to: "new: key") }
          edit = copy.rename(entry.key, in: path, to: "new: key")
        case 3:
          guard let entries = node.entries else { continue }
          let index = pick(entries.count + 1)
          wanted = document.root.replacing(path[...]) { $0.inserting("on", piece, at: index) }
          edit = copy.insert("on", piece, in: path, at: index)
        default:
          guard let items = node.items else { continue }
          let index = pick(items.count + 1)
          wanted = document.root.replacing(path[...]) { $0.inserting(piece, at: index) }
          edit = copy.insert(piece, in: path, at: index)
        }
        // The reader takes no file that holds nothing.
        guard wanted?.scalar?.coreType != .null else { continue }
        #expect(edit != nil && copy.root == wanted, "\(file) \(path)")
        guard let edit else { continue }
        made += 1
        if edit.old == document.bytes, path.count > 1 { whole += 1 }
        let isUndone = copy.apply(edit.inverse)
        #expect(isUndone && copy.bytes == document.bytes, "\(file) \(path)")
      }
    }
    #expect(made > 1_000)
    #expect(whole == 0)
  }

  @Test func `writes a tree that was never written`() throws {
    for piece in Self.pieces where piece.scalar?.coreType != .null {
      let text = YAMLWriter.text(of: piece)
      #expect(YAMLDocument(Array(text.utf8))?.root == piece, "\(text)")
    }
  }
}
