/// `--arm fec='alice.audio.fec=true'`: one more arm.
///
/// It is passed among the overrides of variables, under a name that a variable cannot have.
public struct ArmOverride: Sendable, Equatable {
  /// The name of the arm.
  public let name: String
  /// The changes: `path=value`, separated by blanks outside quotes and braces.
  public let text: String

  private static let prefix = "arm "

  /// Decodes an override; nil when it is about a variable or a peer.
  init?(_ name: String, _ value: String) {
    guard name.hasPrefix(Self.prefix) else { return nil }
    self.name = String(name.dropFirst(Self.prefix.count))
    text = value
  }

  /// Encodes an arm; an empty text changes nothing.
  public static func override(name: String, changes text: String) -> ScenarioOverride {
    ScenarioOverride(name: prefix + name, value: text)
  }

  /// The changes as lines of YAML, `path: value`; nil if a change has no value.
  var yaml: String? {
    var lines: [String] = []
    for change in Self.split(text) {
      guard let equals = change.firstIndex(of: "="), equals != change.startIndex else { return nil }
      let value = change[change.index(after: equals)...]
      guard !value.isEmpty else { return nil }
      lines.append("\(change[..<equals]): \(value)\n")
    }
    return lines.joined()
  }

  /// Splits at blanks outside quotes, braces and brackets.
  private static func split(_ text: String) -> [String] {
    var parts = [""]
    var depth = 0
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if "{[".contains(character) {
        depth += 1
      } else if "}]".contains(character) {
        depth -= 1
      } else if character.isWhitespace, depth <= 0 {
        parts.append("")
        continue
      }
      parts[parts.count - 1].append(character)
    }
    return parts.filter { !$0.isEmpty }
  }
}

/// `--measure 'bob.q.mos p95'`: a number to compare, instead of those of the file.
///
/// It is passed among the overrides of variables, under a name that a variable cannot have.
public struct MeasureOverride: Sendable, Equatable {
  /// The watched value.
  let path: String
  /// The statistic; nil for the mean.
  let statistic: String?

  private static let prefix = "measure "

  /// Decodes an override; nil when it is about something else.
  init?(_ name: String, _ value: String) {
    guard name.hasPrefix(Self.prefix) else { return nil }
    // A path of the wire may have blanks between parentheses.
    let end = value.lastIndex(of: ")").map { value.index(after: $0) } ?? value.firstIndex(of: " ") ?? value.endIndex
    path = String(value[..<end])
    let rest = value[end...].trimmingPrefix { $0 == " " }
    statistic = rest.isEmpty ? nil : String(rest)
  }

  /// Encodes a measure: a watched value, and its statistic after a blank.
  public static func override(measure text: String) -> ScenarioOverride {
    ScenarioOverride(name: prefix + text, value: text)
  }

  /// The measure as a file would write it.
  var yaml: String { "[{ metric: \"\(path)\"\(statistic.map { ", stat: \($0)" } ?? "") }]\n" }
}
