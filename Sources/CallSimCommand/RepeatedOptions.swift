import ArgumentParser
import Formats

/// Refuses a repeated option that takes one value: the parser silently keeps the last value.
enum RepeatedOptions {
  private struct Option {
    var names: [String]
    var takesValue: Bool
    var isRepeating: Bool
  }

  /// Checks arguments for repeated options.
  ///
  /// - Parameter arguments: The arguments that the command was parsed from, so every option is known and has its value.
  /// - Throws: ``UsageProblem`` if an option with one value has two.
  static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
    guard arguments.count(where: { $0.hasPrefix("-") }) > 1 else { return }
    let options = options(of: command)
    var given: Set<String> = []
    var rest = arguments[...]
    while let word = rest.popFirst(), word != "--" {
      for (option, isJoined) in named(by: word, options) where option.takesValue {
        if !isJoined { _ = rest.popFirst() }
        guard !option.isRepeating, let name = option.names.last else { continue }
        guard given.insert(name).inserted else {
          throw UsageProblem(message: "\(name) is given twice; give it once, since only one value can count")
        }
      }
    }
  }

  /// Returns the options of one word, each with whether the word includes its value: `--seed=1`, `-tci`, `-qj`.
  private static func named(by word: String, _ options: [Option]) -> [(Option, isJoined: Bool)] {
    if word.hasPrefix("--") {
      let name = word.prefix { $0 != "=" }
      return options.filter { $0.names.contains(String(name)) }.map { ($0, name.count < word.count) }
    }
    var found: [(Option, isJoined: Bool)] = []
    var letters = word.hasPrefix("-") ? word.dropFirst() : ""
    while let letter = letters.popFirst(), let option = options.first(where: { $0.names.contains("-\(letter)") }) {
      found.append((option, !letters.isEmpty))
      if option.takesValue { break }
    }
    return found
  }

  /// Returns the command's options, from the parser's own description.
  private static func options(of command: any ParsableCommand.Type) -> [Option] {
    let description = try? JSON(parsing: command._dumpHelp().utf8)
    return (description?["command"]?["arguments"]?.array ?? []).map { argument in
      let names = (argument["names"]?.array ?? []).compactMap { name in
        name["name"]?.string.map { (name["kind"]?.string == "short" ? "-" : "--") + $0 }
      }
      return Option(
        names: names, takesValue: argument["kind"]?.string == "option", isRepeating: argument["isRepeating"] == true)
    }
  }
}
