package import Formats

/// The JSON form of a coverage, for workers. Elements are arrays: their members are identified by position.
extension RunCoverage {
  package var json: JSON { ["profiles": .array(profiles.map(\.json))] }

  /// Returns nil when a member is missing or has another type.
  package init?(json: JSON) {
    guard let profiles = json.all("profiles", { Profile(json: $0) }) else { return nil }
    self.init()
    self.profiles = profiles
  }
}

extension RunCoverage.Profile {
  fileprivate var json: JSON {
    [
      "name": .string(name), "transitions": .rows(transitions) { $0.words }, "illegal": .rows(illegal) { $0.words },
      "events": .rows(events) { [$0.state, $0.kind.rawValue, $0.name, $0.isFollowed ? "1" : ""] },
      "joint": .rows(joint) { $0.states }, "endCodes": .rows(endCodes) { [$0] },
      "errorCodes": .rows(errorCodes) { [$0] }, "sent": .rows(sent) { [$0] }, "received": .rows(received) { [$0] },
    ]
  }

  fileprivate init?(json: JSON) {
    let word = { (words: [String]) -> String? in words.count == 1 ? words[0] : nil }
    guard let name = json["name"]?.string,
      let transitions = json.counted("transitions", { RunCoverage.Transition($0) }),
      let illegal = json.counted("illegal", { RunCoverage.Transition($0) }),
      let events = json.counted("events", { RunCoverage.StateEvent($0) }),
      let joint = json.counted("joint", { RunCoverage.JointState($0) }), let endCodes = json.counted("endCodes", word),
      let errorCodes = json.counted("errorCodes", word), let sent = json.counted("sent", word),
      let received = json.counted("received", word)
    else { return nil }
    self.init(name)
    self.transitions = transitions
    self.illegal = illegal
    self.events = events
    self.joint = joint
    self.endCodes = endCodes
    self.errorCodes = errorCodes
    self.sent = sent
    self.received = received
  }
}

extension RunCoverage.Transition {
  fileprivate var words: [String] { [machine, from, to, event] }

  fileprivate init?(_ words: [String]) {
    guard words.count == 4 else { return nil }
    self.init(words[0], words[1], words[2], on: words[3])
  }
}

extension RunCoverage.StateEvent {
  fileprivate init?(_ words: [String]) {
    guard words.count == 4, let kind = RunCoverage.EventKind(rawValue: words[1]) else { return nil }
    self.init(words[0], kind, words[2], isFollowed: words[3] == "1")
  }
}

extension JSON {
  /// Returns rows of the count and the words of an element.
  fileprivate static func rows<Element>(
    _ list: [RunCoverage.Counted<Element>], _ words: (Element) -> [String]
  ) -> JSON {
    .array(list.map { .array([.integer(Int64($0.count))] + words($0.element).map { .string($0) }) })
  }

  fileprivate func counted<Element>(
    _ key: String, _ read: ([String]) -> Element?
  ) -> [RunCoverage.Counted<Element>]? {
    all(key) { row in
      guard let row = row.array, let count = row.first?.integer else { return nil }
      let words = row.dropFirst().compactMap(\.string)
      guard words.count == row.count - 1, let element = read(words) else { return nil }
      return RunCoverage.Counted(element, Int(count))
    }
  }

  fileprivate func all<Element>(_ key: String, _ read: (JSON) -> Element?) -> [Element]? {
    guard let list = self[key]?.array else { return nil }
    let elements = list.compactMap(read)
    return elements.count == list.count ? elements : nil
  }
}
