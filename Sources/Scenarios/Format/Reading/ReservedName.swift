/// Words that mean something already where names of a file stand, so that no name may be one of them: a file that
/// gives `end` another meaning would change what its windows are.
package enum ReservedName {
  /// The host and trace subject of the run itself.
  package static let timekeeper = "scenario"

  /// What the word means as the name of a host, or nil when a peer or a server may have it as its name.
  static func host(_ name: String) -> String? {
    switch name {
    case "wire": "what predicates call the network itself"
    case timekeeper: "what the trace calls the run itself"
    default: nil
    }
  }

  /// What the word means as an anchor, or nil when an entry or a definition may have it as its name.
  static func anchor(_ name: String, peers: [String]) -> String? {
    switch name {
    case "start": return "the start of the run"
    case "end": return "the end of the run"
    default: break
    }
    switch Quantity.read(name) {
    case .value, .bare, .tooLarge: return "a time or another number"
    case .unknownUnit, nil: return peers.contains(name) ? "a peer" : nil
    }
  }

  /// What the word means in a predicate or in `recovers`, or nil when a definition may have it as its name.
  static func predicate(_ name: String) -> String? {
    if name == Expectation.Recovers.mediaBothWays { return "what 'recovers' knows as media in both directions" }
    return guardWord(name)
  }

  /// What the word means in the condition of an `if`, or nil when a variable of the matrix may have it as its name.
  static func guardWord(_ name: String) -> String? {
    ["and", "or", "not", "in", "true", "false"].contains(name) ? "a word of predicates" : nil
  }
}

extension Reading {
  /// Reports a name whose word is taken, with what it means.
  mutating func refuse(_ name: String, meaning: String?, at span: SourceSpan) {
    guard let meaning else { return }
    report(.reservedName, "'\(name)' is no name here: it is \(meaning)", at: span, hint: "choose another name")
  }
}
