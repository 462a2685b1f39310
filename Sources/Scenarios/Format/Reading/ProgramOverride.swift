/// `--peer alice=external:CMD`: an external program replaces the stack of a peer.
///
/// It is passed among the overrides of variables, under a name that a variable cannot have.
public struct ProgramOverride: Sendable, Equatable {
  /// The name of the peer.
  public let peer: String
  /// The program with its arguments.
  public let command: [String]

  private static let prefix = "peer "
  private static let scheme = "external:"

  /// Decodes an override; nil when it is about a variable.
  init?(_ name: String, _ value: String) {
    guard name.hasPrefix(Self.prefix) else { return nil }
    peer = String(name.dropFirst(Self.prefix.count))
    command = Self.words(String(value.dropFirst(Self.scheme.count))) ?? []
  }

  /// Encodes the override for `alice` and `external:interop/peer chromium`; nil when the value has another form.
  public static func override(peer: String, value: String) -> ScenarioOverride? {
    guard value.hasPrefix(scheme), words(String(value.dropFirst(scheme.count)))?.isEmpty == false else { return nil }
    return ScenarioOverride(name: prefix + peer, value: value)
  }

  /// Returns whether a value has an unclosed quote, so that it cannot be split into words.
  public static func hasOpenQuote(_ value: String) -> Bool { words(value) == nil }

  /// Splits a command at spaces outside quotes; nil when a quote is not closed.
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
