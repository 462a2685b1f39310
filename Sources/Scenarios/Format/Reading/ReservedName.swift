/// Words with a fixed meaning, which files may not use as names: a file that redefined `end` would change the meaning
/// of its windows.
package enum ReservedName {
  /// The host and trace subject of the run itself.
  package static let timekeeper = "scenario"
  /// The host with which other apps of devices exchange bytes.
  package static let trafficServer = "traffic"

  /// Returns the meaning of a reserved host name; nil when a peer or a server may have the name.
  static func host(_ name: String) -> String? {
    switch name {
    case "wire": "what predicates call the network itself"
    case timekeeper: "what the trace calls the run itself"
    case trafficServer: "the server of device.traffic"
    default: nil
    }
  }

  /// Returns the meaning of a reserved anchor name; nil when an entry or a definition may have the name.
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

  /// Returns the meaning of a reserved word of predicates or `recovers`; nil when a definition may have the name.
  static func predicate(_ name: String) -> String? {
    if name == Expectation.Recovers.mediaBothWays { return "what 'recovers' knows as media in both directions" }
    return guardWord(name)
  }

  /// Returns the meaning of a reserved word of `if` conditions; nil when a matrix variable may have the name.
  static func guardWord(_ name: String) -> String? {
    ["and", "or", "not", "in", "true", "false"].contains(name) ? "a word of predicates" : nil
  }
}

extension Reading {
  /// Reports a reserved name, with its meaning.
  mutating func refuse(_ name: String, meaning: String?, at span: SourceSpan) {
    guard let meaning else { return }
    report(.reservedName, "'\(name)' cannot be a name: it is \(meaning)", at: span, hint: "choose another name")
  }
}
