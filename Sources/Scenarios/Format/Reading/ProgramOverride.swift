/// `--peer alice=external:CMD`: a program takes the place of the stack of a peer that the file describes.
///
/// It travels among the overrides of variables, under a name that no variable can have.
public struct ProgramOverride: Sendable, Equatable {
  public let peer: String
  public let command: [String]

  private static let prefix = "peer "
  private static let scheme = "external:"

  /// Reads an override as it travels; nil when it is about a variable.
  init?(_ name: String, _ value: String) {
    guard name.hasPrefix(Self.prefix) else { return nil }
    peer = String(name.dropFirst(Self.prefix.count))
    command = Self.words(String(value.dropFirst(Self.scheme.count))) ?? []
  }

  /// The override for `alice` and `external:interop/peer chromium`; nil when the value has another form.
  public static func override(peer: String, value: String) -> ScenarioOverride? {
    guard value.hasPrefix(scheme), words(String(value.dropFirst(scheme.count)))?.isEmpty == false else { return nil }
    return ScenarioOverride(name: prefix + peer, value: value)
  }

  /// Whether a value cannot be split into words.
  public static func hasOpenQuote(_ value: String) -> Bool { words(value) == nil }

  /// Splits a command at spaces; within quotes they are kept. Nil when a quote is not closed.
  static func words(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      switch (quote, character) {
      case (let open?, _) where open == character: quote = nil
      case (nil, "\""), (nil, "'"):
        quote = character
        word = word ?? ""
      case (nil, " "):
        if let finished = word { words.append(finished) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return quote == nil ? words : nil
  }
}
