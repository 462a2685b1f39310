internal import Formats

/// Workflow commands, which a step prints to a GitHub runner: `::error file=…::text`.
package enum WorkflowCommand {
  /// Escapes text for a command, or for one of its properties.
  package static func escape(_ text: String, inProperty: Bool) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": out += "%25"
      case "\r": out += "%0D"
      case "\n": out += "%0A"
      case ":" where inProperty: out += "%3A"
      case "," where inProperty: out += "%2C"
      default: out.unicodeScalars.append(scalar.isPrintable ? scalar : "\u{FFFD}")
      }
    }
    return out
  }

  /// Marks lines that a GitHub runner would take for a workflow command: it looks for `::` and `##[` after the leading
  /// blanks of every line.
  package static func defused(_ text: String) -> String {
    guard text.contains("::") || text.contains("##[") else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let start = line.firstIndex { !$0.isWhitespace } ?? line.endIndex
      guard line[start...].hasPrefix("::") || line[start...].hasPrefix("##[") else { return String(line) }
      return line[..<start] + "| " + line[start...]
    }.joined(separator: "\n")
  }
}
