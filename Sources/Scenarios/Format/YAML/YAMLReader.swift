/// Reads the bytes of one file into a tree of nodes with locations, and reports what the format excludes from YAML.
enum YAMLReader {
  static let maximumByteCount = 1 << 20

  /// Reads `bytes` as the file `path`, which is added to `sources`.
  static func read(
    _ bytes: [UInt8], path: String, usedFrom: SourceSpan?, into sources: inout SourceMap,
    diagnostics: inout [Diagnostic]
  ) -> YAMLNode? {
    let text = String(validating: bytes, as: UTF8.self)
    let shown = bytes.count > maximumByteCount ? "" : text ?? String(decoding: bytes, as: UTF8.self)
    let withoutMark = shown.unicodeScalars.first == "\u{FEFF}" ? String(shown.unicodeScalars.dropFirst()) : shown
    let file = sources.add(path: path, text: withoutMark, usedFrom: usedFrom)
    guard bytes.count <= maximumByteCount else {
      let size = SourceSpan(file: file, line: 1, column: 1)
      diagnostics.append(Diagnostic(.tooLarge, "the file is larger than 1 MiB", at: size))
      return nil
    }
    let lines = sources.files[file].lines.map { Array($0.unicodeScalars) }
    guard text != nil else {
      let place = place(in: lines, file) { $0 == "\u{FFFD}" }
      diagnostics.append(Diagnostic(.notUTF8, "the file is not UTF-8", at: place))
      return nil
    }
    if let character = withoutMark.unicodeScalars.first(where: isForbidden) {
      diagnostics.append(forbidden(character, at: place(in: lines, file) { $0 == character }))
      return nil
    }
    var parser = YAMLParser(Array(withoutMark.utf8), file: file)
    do throws(YAMLProblem) {
      let root = try parser.document()
      diagnostics += parser.diagnostics
      return root
    } catch {
      diagnostics += parser.diagnostics
      diagnostics.append(error.diagnostic(file: file, lines: lines))
      return nil
    }
  }

  private static func place(
    in lines: [[Unicode.Scalar]], _ file: Int, where isMeant: (Unicode.Scalar) -> Bool
  ) -> SourceSpan {
    for (number, line) in lines.enumerated() {
      if let column = line.firstIndex(where: isMeant) {
        return SourceSpan(file: file, line: number + 1, column: column + 1)
      }
    }
    return SourceSpan(file: file, line: 1, column: 1)
  }

  // MARK: - Characters

  /// Returns whether a character is forbidden: control characters, and line breaks of YAML 1.1 only.
  static func isForbidden(_ character: Unicode.Scalar) -> Bool {
    switch character.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E: false
    case ..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: true
    default: false
    }
  }

  private static func forbidden(_ character: Unicode.Scalar, at place: SourceSpan) -> Diagnostic {
    let number = String(character.value, radix: 16, uppercase: true)
    let name = "U+" + String(repeating: "0", count: max(0, 4 - number.count)) + number
    guard [0x85, 0x2028, 0x2029].contains(character.value) else {
      return Diagnostic(.syntax, "the character \(name) is not allowed", at: place, hint: "leave it out")
    }
    return Diagnostic(
      .syntax, "not every reader of YAML takes the character \(name) for the end of a line", at: place,
      hint: "end the line as others are, or write \"\\u\(number.count == 2 ? "00" : "")\(number)\" in double quotes")
  }
}
