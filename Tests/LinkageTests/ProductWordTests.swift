import Foundation
import Testing

/// What a product calls its states, actions, messages and codes is known to its profile alone: scenarios, invariants and
/// explanations go by roles.
///
/// Each built-in profile's words are read from its declaration. Of a word that is no W3C word and no word of every peer, no
/// string in Sources/Scenarios may be that word; of one with a mark in it, such as `-`, `_` or a dot, none may contain it.
@Suite struct ProductWordTests {
  /// Words of a profile that the format has for itself, each with what it means there.
  private static let ownWords: [String: String] = [
    "to": "argument of faults", "code": "key of ends", "count": "expectation and JSON member", "name": "JSON member",
    "role": "key of NAT peers and of profiles", "size": "key of video",
    "bitrate": "key of audio and video", "dtls": "key of peers and word of faults",
  ]

  @Test func `no word of a product stands in the sources of Scenarios`() throws {
    let products = Set(SourceTree("Sources/Profiles").files.compactMap(Self.product))
    #expect(!products.isEmpty)
    let common = Set(
      ["Sources/Vocabulary/CommonVocabulary.swift"].flatMap(Self.file).flatMap(Self.literals).flatMap(Self.words))
    for product in products {
      let words = try Self.declared(by: product).subtracting(common).subtracting(Self.ownWords.keys)
      #expect(words.count > 20, "\(product): \(words.sorted())")
      for hit in Self.hits(of: words.union([product.lowercased()]), in: SourceTree("Sources/Scenarios").files) {
        Issue.record("\(hit)")
      }
    }
  }

  @Test func `the check finds what it looks for`() {
    let lines = [
      #"if state == "talking" {"#, #"let text = "he was talking to her""#, #"print("the code is radio-off now")"#,
      #"// "talking" in a comment"#, #"("radio", "x")"#, #"let name = "talkingly""#,
    ]
    let file = SourceTree.File(path: "x", lines: lines)
    let hits = Self.hits(of: ["talking", "radio-off", "radio"], in: [file])
    #expect(hits == ["x:1: talking", "x:3: radio-off", "x:5: radio"])
  }

  // MARK: Reading

  private static func product(_ file: SourceTree.File) -> String? {
    let parts = file.path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : nil
  }

  private static func file(_ path: String) -> [SourceTree.File] {
    SourceTree(path.split(separator: "/").dropLast().joined(separator: "/")).files.filter { $0.path == path }
  }

  /// The first string of each declaration, and the words of choices.
  private static func declared(by product: String) throws -> Set<String> {
    let files = SourceTree("Sources/Profiles/\(product)").files.filter { $0.path.hasSuffix("Vocabulary.swift") }
    let text = files.flatMap(\.lines).joined(separator: "\n")
    let pattern = try Regex(
      #"(?:ActionDeclaration|MessageDeclaration|CodeDeclaration|ValueDeclaration|ParameterDeclaration|StateMachine|\.init)\(\s*"([^"]+)""#,
      as: (Substring, Substring).self)
    return Set(text.matches(of: pattern).map { String($0.output.1) })
  }

  private static func hits(of words: Set<String>, in files: [SourceTree.File]) -> [String] {
    let marked = words.filter { $0.contains { !$0.isLetter } }
    var hits: [String] = []
    for file in files {
      for (index, line) in file.lines.enumerated() where strstr(line, "\"") != nil {
        for literal in literals(line) {
          let found = words.contains(literal) ? [literal] : marked.filter { Self.words(literal).contains($0) }
          hits += found.sorted().map { "\(file.path):\(index + 1): \($0)" }
        }
      }
    }
    return hits
  }

  private static func literals(_ file: SourceTree.File) -> [String] { file.lines.flatMap(literals) }

  /// What the strings of a line say; comments have none.
  private static func literals(_ line: String) -> [String] {
    var all: [String] = []
    var current: String?
    var previous: Character = " "
    for character in line {
      if character == "\"", previous != "\\" {
        if let text = current { all.append(text) }
        current = current == nil ? "" : nil
      } else if current != nil {
        current?.append(character)
      } else if character == "/", previous == "/" {
        break
      }
      previous = character
    }
    return all
  }

  /// Its words, with the marks that names have.
  private static func words(_ text: String) -> Set<String> {
    Set(
      text.split { !($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ".-")) })
  }
}
