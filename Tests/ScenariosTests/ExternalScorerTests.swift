import CallCore
import Formats
import Foundation
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// External programs that score what a peer heard.
@Suite struct ExternalScorerTests {
  private func scorer(_ command: String, limit: Int = 20) throws -> ExternalScorer {
    try ExternalScorer("s=\(command) # {ref} {deg}", limit: limit)
  }

  private func problem(_ command: String, limit: Int = 20) throws -> String {
    guard case .failure(let problem) = try scorer(command, limit: limit).score(in: "/") else { return "a score" }
    return problem.message
  }

  @Test func `the score is the last word that the program prints`() throws {
    #expect(try scorer("echo MOS-LQO: 3.25").score(in: "/").get() == 3.25)
    #expect(try scorer("printf 'a 1\\n-7.5e-1\\n\\n'").score(in: "/").get() == -0.75)
  }

  @Test func `a program that fails gives no score and shows its last words`() throws {
    #expect(
      try problem("echo 4.5; echo no utterance >&2; exit 3") == "the program ended with exit code 3: no utterance")
    #expect(try problem("kill -9 $$").hasPrefix("the program ended by signal 9"))
    #expect(try problem("no-such-program-here").contains("exit code 127: "))
  }

  @Test(arguments: ["echo 4.5 points", "echo nan", "echo inf", "echo 4,5", "true"])
  func `what is no number is no score`(command: String) throws {
    #expect(try problem(command).hasPrefix("the last word of its output is no number"))
  }

  @Test(arguments: ["echo 1e308", "echo -2e100", "echo 1e-320"])
  func `a score beyond what can be averaged is none`(command: String) throws {
    #expect(try problem(command).hasPrefix("a score is 0, or has a magnitude of 1e-100 to 1e100: "))
    #expect(try scorer("echo 0").score(in: "/").get() == 0)
  }

  @Test func `a program that hangs is ended with what it has started`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let text = try problem("sleep 600 & echo $! > \(file); echo waiting; wait", limit: 1)
    #expect(text == "still running after 1 s: waiting")
    let child = try #require(
      pid_t(String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
    // A killed process may still be on its way out; one that goes on sleeps for minutes.
    let deadline = ContinuousClock.now + .seconds(10)
    while isAlive(child), ContinuousClock.now < deadline { sched_yield() }
    #expect(!isAlive(child))
  }

  /// Whether a process runs, rather than being gone or dead and not yet collected by whoever inherited it.
  private func isAlive(_ process: pid_t) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
    return !status.contains(") Z") && !status.contains(") X")
  }

  @Test func `a message names no temporary folder, so that equal ones are told once`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    guard case .failure(let problem) = try ExternalScorer("s=echo {ref} {deg}").score(in: folder) else {
      throw CancellationError()
    }
    #expect(problem.message == "the last word of its output is no number: ref.wav deg.wav")
  }

  @Test func `a program that prints without end is ended`() throws {
    #expect(try problem("yes", limit: 1).hasPrefix("still running after 1 s"))
  }

  @Test func `an end that a child outlives is an end`() throws {
    #expect(try scorer("sleep 30 & echo 2").score(in: "/").get() == 2)
  }

  @Test(arguments: [
    ("s=cmd {ref}", "what was heard as {deg}"), ("s=cmd {refvideo} {deg}", "and what was seen as {degvideo}"),
    ("s=cmd {deg16}", "what was said as {ref} or {ref16}"),
    ("pesk", "'pesk' is no preset"), ("a b=cmd {ref} {deg}", "--scorer takes"), ("=cmd {ref} {deg}", "--scorer takes"),
  ])
  func `a scorer that cannot work is refused`(text: String, message: String) {
    #expect {
      try ExternalScorer(text)
    } throws: { error in
      (error as? ExternalScorer.Problem)?.message.contains(message) == true
    }
  }

  @Test func `presets name both recordings`() throws {
    for preset in ScorerPreset.all {
      let recordings = try ExternalScorer(preset.name).recordings
      #expect(recordings == [.reference16, .degraded16] || recordings == [.takenPictures, .seenPictures])
    }
  }

  // MARK: Recordings

  /// Returns a second of noise, the same each time.
  private func noise(_ seconds: Int = 1) -> [Int16] {
    var random = RandomSource(seed: 3).stream("noise")
    var low = 0.0
    return (0..<48_000 * seconds).map { _ in
      low = 0.9 * low + Double(random.uniform(below: 8_001)) - 4_000
      return Int16(max(-32_768, min(32_767, low)))
    }
  }

  @Test func `recordings have their rates and lengths`() throws {
    let speech = HeardSpeech(try scenario())
    speech.add(.paired(said: noise(), heard: noise()), by: "bob")
    // Behind a header of 44 bytes there are two bytes for each sample.
    for (file, size) in [("ref", 96_044), ("deg", 96_044), ("ref16", 32_044), ("deg16", 32_044)] {
      let other = file.hasPrefix("ref") ? "{deg}" : "{ref}"
      let scorer = try ExternalScorer("s=: \(other); wc -c < {\(file)}")
      #expect(speech.scores([scorer]).first { $0.peer == "bob" }?.value == Double(size))
    }
    let rate = try ExternalScorer("s=: {ref}; od -An -t u4 -j 24 -N 4 {deg16}")
    #expect(speech.scores([rate]).first { $0.peer == "bob" }?.value == 16_000)
  }

  @Test func `sound at another time than its reference is not scored`() throws {
    let said = noise()
    for (shift, text) in [(0, nil), (200, nil), (480, "what was heard stands 10ms behind what was said")] {
      let speech = HeardSpeech(try scenario())
      speech.add(.paired(said: said, heard: Array(repeating: 0, count: shift) + said.dropLast(shift)), by: "bob")
      let score = try #require(speech.scores([scorer("echo 1")]).first { $0.peer == "bob" })
      #expect(score.problem == text)
      #expect((score.value == nil) == (text != nil))
    }
  }

  @Test func `the lag is found behind losses and not where nothing is alike`() throws {
    let said = noise()
    var heard = Array(repeating: Int16(0), count: 960) + said.dropLast(960)
    for start in stride(from: 0, to: 48_000, by: 4_800) { for index in start..<start + 960 { heard[index] = 0 } }
    #expect(SpeechAlignment.lag(said: said, heard: heard) == .milliseconds(20))
    #expect(SpeechAlignment.lag(said: said, heard: Array(repeating: 0, count: 48_000)) == nil)
    #expect(SpeechAlignment.lag(said: said, heard: said.reversed()) == nil)
  }

  /// 440 Hz at 48 kHz, heard at the same time with a fraction of a sample between, or late.
  @Test(arguments: [(0.0, 0), (0.3, 0), (4.2, 0), (-5.1, 0), (48, 1)])
  func `a tone, which is alike at every period, stands at the nearest of them`(late: Double, milliseconds: Int) throws {
    let tone = { (shift: Double) in
      (0..<96_000).map { Int16(8_000 * sin(2 * Double.pi * 440 * (Double($0) - shift) / 48_000)) }
    }
    let lag = try #require(SpeechAlignment.lag(said: tone(0), heard: tone(late)))
    #expect(abs(lag.seconds * 1_000 - Double(milliseconds)) < 0.6)
  }

  @Test func `who hears nobody speak is not scored, which is no lack`() throws {
    let speech = HeardSpeech(try scenario())
    let silence = Array(repeating: Int16(0), count: 48_000)
    speech.add(.paired(said: silence, heard: silence), by: "alice")
    #expect(
      speech.scores([try scorer("echo 1")]).map(\.problem) == [
        HeardSpeech.silence, "no sound was heard beside its source over the peer's only connection",
      ])
  }

  @Test func `who hears a mix is not scored`() throws {
    let speech = HeardSpeech(try scenario())
    speech.add(.paired(said: noise(), heard: noise()), by: "bob")
    speech.add(.mixed, by: "bob")
    #expect(speech.scores([try scorer("echo 1")]).first { $0.peer == "bob" }?.problem == HeardSpeech.mixture)
  }

  // MARK: Runs

  private static let text = """
    callsim: 1
    id: t
    media: real
    compare:
      arms: { as-is: {}, low: { alice.audio.bitrate: 12kbps } }
      measure: [{ metric: bob.q.concealment, window: [middle, bye] }]
    peers:
      alice: { profile: knotos, network: wifi, devices: { mic: speech }, audio: { fec: true, packet_loss_hint: 10% } }
      bob: { profile: knotos, network: wifi, devices: { mic: silence } }
    timeline:
      - { at: 0s, do: alice.call, to: bob }
      - { at: 1s, do: bob.accept }
      - { mark: middle, at: 3s }
      - { id: bye, at: 6s, do: alice.hangup }
    expect:
      - { ends: alice, code: local-hangup }
    """

  private func load() throws -> ScenarioFile {
    try #require(
      ScenarioFile.load(text: Self.text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry).scenario)
  }

  private func scenario() throws -> Scenario { try #require(load().cells.first).scenario }

  private func reply(_ cell: Cell, _ file: ScenarioFile, _ scorers: [ExternalScorer]) throws -> RunResult {
    var job = RunJob(source: file.source, cellID: cell.id, seed: 1)
    job.scorers = scorers
    let sent = try #require(RunJob(json: job.json(hasFiles: true)))
    #expect(sent == job)
    var loop = WorkerLoop(profiles: .builtIn)
    let answer = loop.execute(sent)
    guard case .result(let result)? = WorkerReply(json: answer.json) else { throw JobError(message: "no result") }
    return result
  }

  @Test func `a run is scored over the window of the numbers beside it, and plays as without`() throws {
    let file = try load()
    let scorer = try ExternalScorer("size=: {ref}; wc -c < {deg}")
    let scored = try reply(file.cells[0], file, [scorer])
    let plain = try reply(file.cells[0], file, [])
    #expect(scored.traceHash == plain.traceHash)
    #expect(plain.scores == [])
    let size = try #require(scored.scores.first { $0.peer == "bob" }?.value)
    // Three seconds of two bytes a sample.
    #expect(abs(size - 288_044) < 4_000, "\(size)")
    #expect(scored.scores.first { $0.peer == "alice" }?.problem == HeardSpeech.silence)
    let times = scored.scores.map { score in score.opened.flatMap { opened in score.closed.map { $0 - opened } } }
    #expect(times == [.seconds(3), .seconds(3)])
  }

  /// The reference is named and not read; of pictures, what is not black is counted.
  private static let sizes = [
    "sound=: {ref}; wc -c < {deg}", "pictures=: {refvideo}; tr -d '\\020\\200' < {degvideo} | wc -c",
  ]

  private func named(_ others: [String]) throws -> [Score] {
    let peers = others.map { "  \($0): { profile: connectycube, network: wifi, video: { size: 160x120 } }\n" }.joined()
    let text = """
      callsim: 1
      id: t
      media: real
      compare: { arms: { a: {}, b: {} }, measure: ["wire.bytes(from: alice)"] }
      peers:
        alice: { profile: connectycube, network: wifi, video: { size: 160x120 } }
      \(peers)
      timeline:
        - { at: 3s, do: alice.call, to: [\(others.joined(separator: ", "))] }
        - { when: bob.session.state == pending, after: 500ms, do: bob.accept }
        - { id: bye, at: 8s, do: alice.hangup }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    return try reply(file.cells[0], file, Self.sizes.map { try ExternalScorer($0) }).scores.filter { $0.peer == "bob" }
  }

  @Test(
    arguments: [
      ("{ profile: knotos, network: wifi", "alice.call, to: bob", "bob.accept", true),
      (
        "{ profile: twilio, network: wifi, settings: { turn-off: disable }", "bob.connect, room: r",
        "alice.connect, room: r", true
      ),
      ("{ profile: twilio, network: wifi", "bob.connect, room: r", "alice.connect, room: r", false),
      ("{ profile: vonage, network: wifi", "bob.connect, session: s", "alice.connect, session: s", false),
    ])
  func `a camera that is off has no pictures, and black ones that it sends have an age`(
    peer: String, first: String, second: String, sendsBlack: Bool
  ) throws {
    let text = """
      callsim: 1
      id: t
      media: real
      compare:
        arms: { a: {}, b: {} }
        measure: [{ metric: bob.q.picture_age, stat: max, window: [dark, bye] }]
      peers:
        alice: \(peer), video: { size: 160x120, frame_rate: 10 } }
        bob: \(peer), video: { size: 160x120 }, devices: { camera: none } }
      timeline:
        - { at: 0s, do: \(first) }
        - { at: 1s, do: \(second) }
        - { at: 5s, do: alice.camera-off }
        - { mark: dark, at: 6s }
        - { at: 7s, do: alice.camera-on }
        - { id: bye, at: 9s, do: alice.\(peer.contains("knotos") ? "hangup" : "disconnect") }
      expect: invariants
      """
    let loaded = ScenarioFile.load(text: text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    let result = try reply(file.cells[0], file, [try ExternalScorer("size=: {degvideo}; wc -c < {refvideo}")])
    let score = try #require(result.scores.first { $0.peer == "bob" })
    let size = try #require(score.value, "\(result.scores)")
    // Two seconds at 10 Hz, of three.
    #expect(abs(size / (160 * 120 * 1.5) - 20) < 3, "\(size)")
    #expect(score.time.map { abs($0.seconds - 2) < 0.3 } ?? false, "\(score)")
    let age = try #require(result.measurements.first?.measured)
    #expect(!sendsBlack || age < 0.3, "\(age)")
  }

  @Test func `a peer whose only connection has a name is scored, and one that may have several is told`() throws {
    let scores = try named(["bob"])
    #expect(scores.count == 2 && scores.allSatisfy { ($0.value ?? 0) > 50_000 }, "\(scores)")
    #expect(
      try named(["bob", "carol"]).map(\.problem) == [HeardSpeech.severalConnections, HeardSpeech.severalConnections])
  }

  @Test(
    arguments: [
      ("3.5", 3.5), ("a b -2", -2), ("+1e-3\n", 0.001), (".5", 0.5), ("4.", 4), ("0x10", nil), ("nan", nil),
      ("inf", nil),
      ("1e400", nil), ("3,5", nil), ("", nil),
    ] as [(String, Double?)])
  func `a score is a decimal number`(output: String, score: Double?) {
    #expect(ExternalScorer.number(in: output) == score)
  }

  @Test(arguments: [(0, "0"), (4.1234, "4.123"), (0.0123, "0.0123"), (-0.002019, "-0.00202"), (2e-5, "2e-05")])
  func `a small score has digits too`(value: Double, text: String) {
    let number = ArmComparison.Number(kind: .score(scorer: "mse", peer: "bob", Window()))
    #expect(number.text(of: value) == text)
  }

  @Test func `scores are numbers to compare, and a missing one is a gap that is named`() throws {
    let file = try load()
    var selection = SuiteSelection()
    selection.seedCount = 1
    var ledger = ArmLedger()
    for entry in SuitePlan(files: [file], hash: 0, selection: selection).entries {
      for seed in UInt64(1)...3 {
        var result = try reply(entry.cell, file, [])
        result.seed = seed
        let isLow = entry.cell.scenario.arms?.own == "low"
        result.scores = [
          Score(scorer: "s", peer: "alice", problem: HeardSpeech.silence),
          isLow && seed == 2
            ? Score(scorer: "s", peer: "bob", problem: "it fell")
            : Score(scorer: "s", peer: "bob", value: isLow ? 2 : 3 + 0.1 * Double(seed)),
        ]
        ledger.add(result, of: entry)
      }
    }
    let point = try #require(ledger.close(overrides: []).comparison)
    #expect(point.numbers.map(\.name) == ["bob.q.concealment mean [middle, bye]", "bob.s [middle, bye]"])
    #expect(point.numbers[1].values(of: "low") == [2, 2])
    #expect(point.unscoredTexts == ["s scored nothing of bob in 'low', seed 2: it fell"])
    let report = CompareReport([point])
    #expect(!report.csv.contains("low,2,pass,\"bob.s"))
    #expect(report.csv.contains("low,3,pass,\"bob.s [middle, bye]\",2.0"))
    let text = CompareText(report, style: .plain).text
    #expect(text.contains("no score: s scored nothing of bob in 'low', seed 2: it fell"))
    #expect(
      ComparePage(report, environment: .current).html.contains("s scored nothing of bob in &#39;low&#39;")
        || ComparePage(report, environment: .current).html.contains("s scored nothing of bob in 'low'"))
    #expect(report.json(.current)["points"]?.array?.first?["unscored"]?.array?.count == 1)
  }

  @Test func `a score of a window that opened elsewhere is not compared`() throws {
    let file = try load()
    var ledger = ArmLedger()
    for entry in SuitePlan(files: [file], hash: 0, selection: SuiteSelection()).entries {
      var result = try reply(entry.cell, file, [])
      var score = Score(scorer: "s", peer: "bob", value: 3)
      score.opened = .zero + .seconds(entry.cell.scenario.arms?.own == "low" ? 6 : 4)
      (score.closed, score.time) = (score.opened.map { $0 + .seconds(6) }, .seconds(6))
      result.scores = [score]
      ledger.add(result, of: entry)
    }
    let point = try #require(ledger.close(overrides: []).comparison)
    let number = try #require(point.numbers.last)
    #expect(number.values(of: "low").isEmpty && number.values(of: "as-is") == [3])
    #expect(point.gapTexts.contains { $0.contains("bob.s") && $0.contains("opened at 6s") }, "\(point.gapTexts)")
  }

  @Test func `ranks are compared over the arms at all points, and too few of them are told`() throws {
    let file = try load()
    var ledger = ArmLedger()
    for entry in SuitePlan(files: [file], hash: 0, selection: SuiteSelection()).entries {
      var result = try reply(entry.cell, file, [])
      result.scores = [Score(scorer: "s", peer: "bob", value: entry.cell.scenario.arms?.own == "low" ? 2 : 3)]
      ledger.add(result, of: entry)
    }
    let point = try #require(ledger.close(overrides: []).comparison)
    let few = CompareReport([point], correlatingWith: ["bob.s"])
    #expect(few.correlations(with: "bob.s").isEmpty)
    #expect(
      CompareText(few, style: .plain).text.contains("no rank correlation with bob.s: fewer than 5 arms at points"))
    let points = (0..<3).map { shift in
      var point = point
      let values = { (base: Double) in ["as-is": [UInt64(1): base + Double(shift)], "low": [1: base - Double(shift)]] }
      for index in point.numbers.indices { point.numbers[index].samples = values(index == 0 ? -9 : 9) }
      return point
    }
    let many = CompareReport(points, correlatingWith: ["bob.s"])
    #expect(many.correlations(with: "bob.s").map(\.count) == [6])
    #expect(many.correlations(with: "bob.s").first?.number == "bob.q.concealment mean")
    #expect(
      many.correlations(with: "bob.s").first?.spearman == 1 && many.correlations(with: "bob.s").first?.kendall == 1)
    #expect(many.uncorrelated.isEmpty)
    #expect(CompareText(many, style: .plain).text.contains("rank correlation with bob.s\n"))
    #expect(ComparePage(many, environment: .current).html.contains("<h2>Rank correlation</h2>"))
    #expect(many.json(.current)["correlations"]?.array?.count == 1)
  }

  @Test func `encoders that leave redundancy out or narrow the sound are told`() throws {
    let file = try load()
    var ledger = ArmLedger()
    for entry in SuitePlan(files: [file], hash: 0, selection: SuiteSelection()).entries {
      ledger.add(try reply(entry.cell, file, []), of: entry)
    }
    let point = try #require(ledger.close(overrides: []).comparison)
    let lines = CodecNotes(point).lines
    #expect(lines.contains { $0.hasPrefix("'low': alice asks Opus for redundancy (FEC), and 100% of") }, "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("'low': alice's sound ends at ") && $0.contains("where 'as-is' has ") }, "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("'as-is': ") }, "\(lines)")
    #expect(CompareText(CompareReport([point]), style: .plain).text.contains("'low': alice asks Opus"))
  }
}
