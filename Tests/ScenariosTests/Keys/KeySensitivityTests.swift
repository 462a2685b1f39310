import Testing
import Vocabulary

@testable import ScenarioFormat

/// The cases of every key, and what has none with the reason.
enum KeyCases {
  static let all = document + topology + peers + dataChannels + timeline + expectations + comparisons

  /// Keys that change no run, and why they are there all the same.
  static let inert: [(site: String, reason: String)] =
    [
      ("*.why", "said to people: it is echoed in failures"),
      ("*.title", "said to people"),
      ("scenario.tags", "selects scenarios: run -t"),
      ("scenario.fuzz", "what a search may do: FuzzSettingsTests"),
      ("fuzz.moves", "what a search may do: FuzzSettingsTests"),
      ("fuzz.messages", "what a search may do: FuzzSettingsTests"),
      ("fuzz.senders", "what a search may do: FuzzSettingsTests"),
      ("fuzz.most", "what a search may do: FuzzSettingsTests"),
      ("fuzz.runs", "what a search may do: FuzzSettingsTests"),
      ("scenario.invariants", "the members are the key 'invariant change.invariant'"),
      ("invariant change.invariant", "what an invariant finds needs a broken app: JudgeInvariantTests"),
      ("limits.wall", "time of the machine, not of the run"),
      ("limits.lag", "only for programs outside: ExternalTests"),
      ("limits.start", "only for programs outside: ExternalTests"),
      ("peer.command", "only for programs outside: ExternalTests"),
      ("peer.protocol", "only for programs outside: ExternalTests"),
      ("*.id", "the name of an expectation in reports"),
      ("timeline entry.fault", "each fault has cases of its own"),
      ("leads_to.leads_to", "its members are the keys of 'implication'"),
      ("profile file.callsim", "there is one version"),
      ("profile file.use", "read by FormatValidTests"),
      ("server.profile", "chooses among several profiles: FormatConnectionTests"),
      ("scenario.expect", "its members are keys of their own; invariants alone: RawMessageTests"),
      ("fault signal.corrupt.mutation", "each word: DescriptionMutationTests; what comes of it: RawMessageTests"),
      ("send.number", "chooses among messages that passed: RawMessageTests"),
      ("send.server", "chooses among the servers of several profiles: FormatConnectionTests"),
    ]
    + [
      "signal.drop", "signal.delay", "signal.duplicate", "signal.reorder", "signal.corrupt", "signal.disconnect",
      "signal.blackhole",
    ].map { ("fault \($0).server", "chooses among the servers of several profiles: FormatConnectionTests") }

  /// Words that need what a test of one process has not.
  static let inertWords: [(site: String, words: [String], reason: String)] = [
    ("peer.stack", ["external"], "needs a program: ExternalTests"),
    ("dtls.role", ["auto"], "is active, by RFC 8842"),
    (
      "connectycube setting audio-deinitialization", ["session-did-close-guarded"],
      "its guard has it do as did-deactivate: connectycube/deinitialized-elsewhere"
    ),
    (
      "fault device.events-late.event",
      ConnectionEventName.allCases.map(\.rawValue).filter { $0 != "icecandidate" && $0 != "connectionstatechange" },
      "the app of these scenarios does nothing at them: RunningFaultTests"
    ),
  ]

  static func isInert(_ site: String) -> Bool {
    inert.contains { $0.site == site || ($0.site.hasPrefix("*") && site.hasSuffix($0.site.dropFirst())) }
  }
}

@Suite struct `Keys of a scenario file` {
  @Test(arguments: KeyCases.all.filter { !$0.isEffect }) func `change the run, or are refused`(_ key: KeyCase) {
    let isJudgement = (ExpectationVariant.all.map(\.key) + ["share", "compare", "measure"]).contains {
      key.site.hasPrefix($0 + ".")
    }
    let isInside = key.site.contains("clock") || key.site == "audio.codecs"
    let prints = key.values.map {
      Fingerprint(of: key.text($0), isJudgement: isJudgement, isInside: isInside)
    }
    #expect(prints.contains { !$0.isRefused }, "\(prints[0].text)")
    for (index, print) in prints.enumerated() {
      for (other, earlier) in prints[..<index].enumerated() where earlier.text == print.text && !print.isRefused {
        Issue.record("'\(key.values[index])' is the same run as '\(key.values[other])'")
      }
    }
  }

  @Test(arguments: KeyCases.all.filter(\.isEffect))
  func `that do something change what happens beyond what the timeline says of itself`(_ key: KeyCase) throws {
    let (without, with) = (try WorldPrint(of: key.text(key.values[0])), try WorldPrint(of: key.text(key.values[1])))
    #expect(with.hash != without.hash)
    #expect(with.findings == [])
  }

  @Test(arguments: KeyCases.natChanges)
  func `of a NAT that change while it runs meet something`(_ key: KeyCase) throws {
    // A value that the NAT has already is refused.
    let lacks = try key.values.compactMap { value -> [String]? in
      guard !Fingerprint(of: key.text(value)).isRefused else { return nil }
      return try WorldPrint(of: key.text(value)).findings
    }
    #expect(lacks.contains([]), "\(lacks)")
  }

  @Test func `have a case each, or a reason to have none`() {
    let covered = Set(KeyCases.all.map(\.site))
    let missing = DeclaredKeys.all.filter { site in
      !covered.contains(site.name) && !KeyCases.isInert(site.name) && !site.shape.isContainer
    }
    #expect(missing.map(\.name) == [])
  }

  @Test func `have a case for each of their words`() {
    for site in DeclaredKeys.all where !KeyCases.isInert(site.name) {
      guard let words = site.shape.everyWord else { continue }
      let values = KeyCases.all.filter { $0.site == site.name }.flatMap(\.values)
      let exempt = KeyCases.inertWords.first { $0.site == site.name }?.words ?? []
      let unseen = words.filter { word in
        !exempt.contains(word)
          && !values.contains { $0.split(whereSeparator: { " ,:[]{}".contains($0) }).contains(Substring(word)) }
      }
      #expect(unseen == [], "\(site.name)")
    }
  }

  @Test func `have no case that no declaration asks for`() {
    let declared = Set(DeclaredKeys.all.map(\.name))
    #expect(KeyCases.all.map(\.site).filter { !declared.contains($0) } == [])
  }
}
