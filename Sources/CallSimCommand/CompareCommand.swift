import ArgumentParser
import CallCore
import Formats
import Foundation
import Profiles
import ScenarioFormat
import ScenarioJudge
import ScenarioRun
import ScenarioSuite

struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Compare the arms of scenarios on identical channels.",
    discussion: """
      Arms are those of compare: in a file, or of --arm, which works with any scenario: \
      \(ProgramName.current) compare scenarios/hello.yaml --arm long='alice.audio.ptime=60ms' --seeds 8. \
      Every arm runs with the same seeds and meets the same loss, delay and rates at the same virtual time. \
      Exit codes are those of '\(ProgramName.current) run'.
      """)

  @OptionGroup var scenarios: ScenarioArguments

  @OptionGroup var arms: ArmArguments

  @OptionGroup var programs: ProgramArguments

  @OptionGroup var chosen: SelectionArguments

  @Option(
    help: ArgumentHelp(
      "Score what is heard with a program, as a number to compare; 'doctor' names ready ones. Its last word is the score.",
      valueName: "name='command {ref} {deg}'"))
  var scorer: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("How long a scorer may take.", valueName: "seconds"))
  var scorerLimit = ExternalScorer.usualLimit

  @Option(
    help: ArgumentHelp(
      "Show how far every number ranks the arms at all points as this one does: a scorer, or a value and statistic.",
      valueName: "scorer"))
  var correlate: String?

  @Option(
    help: ArgumentHelp("The arm that the others are compared with, instead of that of the file.", valueName: "arm"))
  var baseline: String?

  @Flag(help: "Show the processor time that encoders and decoders take on this machine.")
  var cpu = false

  @Option(help: ArgumentHelp("The confidence of the intervals that are shown.", valueName: "95%"))
  var interval = "95%"

  @Option(
    help: ArgumentHelp(
      "Write reports: html (a page to look at), csv (every sample), json; FILE - is standard output.",
      valueName: "kind=FILE,…"))
  var report: [String] = []

  @Flag(help: "Show the page of --report html in the browser.")
  var open = false

  @Flag(name: .shortAndLong, help: "The comparison only, without progress.")
  var quiet = false

  func run() throws {
    let confidence = try Self.confidence(interval)
    let scorers = try scorers()
    var requests = try CompareOutputs(report, open: open)
    let overrides = try scenarios.parsedOverrides() + arms.overrides()
    let collection = try scenarios.load(arms.overrides())
    try collection.requireValid()
    var selection = try chosen.selection()
    selection.overrides = overrides
    let plan = SuitePlan(files: collection.files, hash: collection.hash, selection: selection)
    let compared = plan.entries.filter { $0.cell.scenario.arms != nil }
    guard !compared.isEmpty else {
      let hint =
        plan.entries.isEmpty
        ? SelectionHint(selection, collection.files).text
        : "no scenario has arms: write compare: { arms: { … } }, or give --arm name='path=value'"
      Output.error("error: nothing to compare; \(hint)\n")
      throw ExitStatus.vacuous.code
    }
    try checkArms(compared)
    for path in plan.entries.filter({ $0.cell.scenario.arms == nil }).map(\.path).inOrderOfAppearance {
      Output.error("\(TextStyle.printable(path)) has no arms, and is not compared\n")
    }
    collection.showWarnings(of: Set(compared.map(\.path)))
    try check(scorers, compared)
    try checkBaseline(compared)
    try programs.check(compared.map { ($0.path, $0.cell) }, overrides: overrides)
    try requests.open(inputs: collection.inputs)
    var rounds = CompareRounds(collection: collection, selection: selection, plan: plan)
    let status = try play(&rounds, scorers)
    var points = rounds.points
    if let baseline { for index in points.indices { _ = points[index].setBaseline(baseline) } }
    let report = CompareReport(points, confidence: confidence, correlatingWith: references(scorers, points))
    // A disk that is full takes no page, but a terminal takes the text.
    let written = Result { try requests.write(report) }
    if !requests.isOutputTaken {
      Output.text(CompareText(report, environment: .current, style: Output.style(for: 1)).text)
    }
    let words =
      overrides.flatMap { [$0.option, $0.argument] }
      + (chosen.words + chosen.seedWords).flatMap { $0.split(separator: " ", maxSplits: 1).map(String.init) }
    let told = tell(points, scorers, status, options: words)
    try written.get()
    throw told.code
  }

  /// Plays rounds until every difference is as precise as its file asks, or all seeds are used.
  private func play(_ rounds: inout CompareRounds, _ scorers: [ExternalScorer]) throws -> ExitStatus {
    var status = ExitStatus.pass
    while let plan = rounds.next() {
      var options = SuiteRunner.Options(executable: WorkerCommand.executable, workerArguments: [WorkerCommand.name])
      options.jobs = chosen.jobs.count
      options.artifacts = .none
      options.judgesArms = false
      options.scorers = scorers
      options.timesCodecs = cpu
      let detail: TerminalReporter.Detail = !quiet && Output.isTerminal(2) ? .live : .quiet
      let people = TerminalReporter(detail: detail, style: Output.style(for: 2), write: { Output.error($0) })
      let runner = SuiteRunner(plan: plan, options: options, reporters: [people])
      let header = SuiteHeader(plan, environment: .current, options: [])
      let outcome = try runner.run(header)
      if outcome.isInterrupted {
        Output.error("interrupted: \(outcome.summary.notRun) runs were not made, and no report was written\n")
        throw ExitStatus.interrupted.code
      }
      rounds.add(outcome.comparisons)
      status = status.worse(outcome.summary.runStatus)
    }
    return status
  }

  /// Prints what is wrong with the comparisons.
  ///
  /// - Parameter options: The words that compare the same again.
  private func tell(
    _ points: [ArmComparison], _ scorers: [ExternalScorer], _ status: ExitStatus, options: [String]
  ) -> ExitStatus {
    var status = status
    for line in points.flatMap(\.unscoredTexts) { Output.error("no score: \(TextStyle.printable(line))\n") }
    for scorer in scorers where !points.contains(where: { $0.hasScores(of: scorer.name) }) {
      Output.error("error: the scorer '\(scorer.name)' gave no score of any run\n")
      status = status.worse(.inconclusive)
    }
    for point in points {
      var run = point.judgement(overrides: [])
      guard !run.result.findings.isEmpty else { continue }
      run.replay = ([ProgramName.current, "compare", point.path] + options).map(ShellWord.quoted).joined(separator: " ")
      Output.error(FailureText(run, style: Output.style(for: 2)).text)
      status = status.worse(ExitStatus(run.result.verdict))
    }
    return status
  }

  // MARK: Scorers

  private func scorers() throws -> [ExternalScorer] {
    guard (1...86_400).contains(scorerLimit) else {
      throw UsageProblem(message: "--scorer-limit takes 1 to 86400 seconds, not \(scorerLimit)")
    }
    var scorers: [ExternalScorer] = []
    for text in scorer {
      do { scorers.append(try ExternalScorer(text, limit: scorerLimit)) } catch {
        throw UsageProblem(message: error.message)
      }
    }
    for (index, scorer) in scorers.enumerated() where scorers[..<index].contains(where: { $0.name == scorer.name }) {
      throw UsageProblem(message: "--scorer names '\(scorer.name)' twice")
    }
    return scorers
  }

  /// Checks that no choice of cells leaves out an arm: the others would be compared with nothing.
  private func checkArms(_ compared: [SuitePlan.Entry]) throws {
    for entry in compared {
      let chosen = compared.filter { $0.cell.pointID == entry.cell.pointID }.compactMap(\.cell.scenario.arms?.own)
      let missing = (entry.cell.scenario.arms?.names ?? []).filter { !chosen.contains($0) }
      guard !missing.isEmpty else { continue }
      throw UsageProblem(
        message: "nothing to compare: of \(TextStyle.printable(entry.cell.pointID)) the arms "
          + "\(missing.joined(separator: ", ")) are not chosen; choose cells by other variables, or use "
          + "'\(ProgramName.current) run' for one arm")
    }
  }

  private func checkBaseline(_ compared: [SuitePlan.Entry]) throws {
    guard let baseline else { return }
    for entry in compared {
      guard let arms = entry.cell.scenario.arms, !arms.names.contains(baseline) else { continue }
      throw UsageProblem(
        message: "--baseline: \(TextStyle.printable(entry.path)) has no arm '\(baseline)'; it has "
          + arms.names.joined(separator: ", "))
    }
  }

  /// Checks that every scenario has sound to score, and that `--correlate` names a number.
  private func check(_ scorers: [ExternalScorer], _ compared: [SuitePlan.Entry]) throws {
    let measured = compared.flatMap(\.cell.scenario.expectations).compactMap { $0.delta?.metric }
    let titles = measured.map { ArmComparison.Number(kind: .metric($0)).title }
    let scores = scorers.flatMap { scorer in
      compared.flatMap(\.cell.scenario.peers).map { "\($0.name).\(scorer.name)" }
    }
    let known = (scorers.map(\.name) + titles + scores).inOrderOfAppearance
    if let correlate, !known.contains(correlate) {
      throw UsageProblem(
        message: "--correlate: no number is called '\(correlate)'; there are: \(known.joined(separator: ", "))")
    }
    guard !scorers.isEmpty else { return }
    for entry in compared where entry.cell.scenario.media != .real {
      throw UsageProblem(
        message:
          "--scorer: \(TextStyle.printable(entry.path)) has modelled media, and no sound or pictures to score; write "
          + "media: real, or name files that have it")
    }
    for scorer in scorers where scorer.isOfPictures {
      guard let entry = compared.first(where: { entry in entry.cell.scenario.peers.allSatisfy { $0.video == nil } })
      else { continue }
      throw UsageProblem(
        message:
          "--scorer \(scorer.name): no peer of \(TextStyle.printable(entry.path)) has video: and pictures to score")
    }
  }

  /// Returns the names of the numbers that ranks are compared with: a scorer has one for each peer. Empty without
  /// `--correlate`, or where none has a value.
  private func references(_ scorers: [ExternalScorer], _ points: [ArmComparison]) -> [String] {
    guard let correlate else { return [] }
    let titles = CompareReport(points).titles
    let isScorer = scorers.contains { $0.name == correlate }
    return titles.filter { isScorer ? $0.hasSuffix(".\(correlate)") : $0 == correlate }
  }

  private static func confidence(_ text: String) throws -> Double {
    guard case .percentage(let share) = Value(text: text), share >= 0.5, share < 1 else {
      throw UsageProblem(message: "--interval takes a share from 50% to less than 100%, not '\(text)'")
    }
    return share
  }
}

/// The rounds of a comparison: all seeds at once, or more and more of them where files ask for a precision. What is expected
/// over all seeds needs them all.
private struct CompareRounds {
  private let files: [ScenarioFile]
  private let hash: UInt64
  private var selection: SuiteSelection
  /// The runs that were not made, by point.
  private var waiting: [(point: String, runs: [(id: String, seed: UInt64)])] = []
  private var pointsInOneRound: Set<String> = []
  private(set) var points: [ArmComparison] = []
  private var size: Int
  private static let firstSize = 8

  init(collection: ScenarioCollection, selection: SuiteSelection, plan: SuitePlan) {
    (files, hash, self.selection) = (collection.files, collection.hash, selection)
    var isAdaptive = false
    for entry in plan.entries where entry.cell.scenario.arms != nil {
      let runs = entry.seeds.map { (entry.cell.runID(seed: $0), $0) }
      if let index = waiting.firstIndex(where: { $0.point == entry.cell.pointID }) {
        waiting[index].runs += runs
      } else {
        waiting.append((entry.cell.pointID, runs))
      }
      let expectations = entry.cell.scenario.expectations
      isAdaptive = isAdaptive || expectations.contains { $0.delta?.precision != nil }
      if expectations.contains(where: { $0.isJudgedAcrossSeeds && !$0.isDelta }) {
        pointsInOneRound.insert(entry.cell.pointID)
      }
    }
    size = isAdaptive ? Self.firstSize : .max
  }

  /// Returns the plan of the next round; nil if nothing more is needed.
  mutating func next() -> SuitePlan? {
    var names: Set<String> = []
    for index in waiting.indices {
      let point = points.first { $0.id == waiting[index].point }
      // Without a precision every seed is wanted.
      guard point.map({ !($0.asksPrecision && $0.isPrecise) }) ?? true else { continue }
      let needsAll = point?.asksPrecision == false || pointsInOneRound.contains(waiting[index].point)
      let seeds = waiting[index].runs.map(\.seed).inOrderOfAppearance.prefix(needsAll ? .max : size)
      names.formUnion(waiting[index].runs.filter { seeds.contains($0.seed) }.map(\.id))
      waiting[index].runs.removeAll { seeds.contains($0.seed) }
    }
    guard !names.isEmpty else { return nil }
    if size < .max { size *= 2 }
    selection.names = names
    return SuitePlan(files: files, hash: hash, selection: selection)
  }

  mutating func add(_ comparisons: [ArmComparison]) {
    for comparison in comparisons {
      if let index = points.firstIndex(where: { $0.id == comparison.id }) {
        points[index].merge(comparison)
      } else {
        points.append(comparison)
      }
    }
  }
}

/// The reports of a comparison and their files.
private struct CompareOutputs {
  private enum Kind: String, CaseIterable { case html, csv, json }

  private let requests: [(kind: Kind, file: String)]
  private let opensPage: Bool
  /// The pipes and devices of the requests, which are opened once; nil for files and standard output.
  private var sinks: [FileSink?] = []

  init(_ texts: [String], open: Bool) throws {
    requests = try texts.flatMap { $0.split(separator: ",").map(String.init) }.map { text in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let kind = Kind(rawValue: parts[0]) else {
        let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageProblem(message: "--report takes kind=FILE with a kind of \(kinds), not '\(text)'")
      }
      // Opened by its name, standard output would be written from its beginning again.
      return (kind, ["/dev/stdout", "/dev/fd/1"].contains(parts[1]) ? "-" : parts[1])
    }
    opensPage = open
    if requests.count(where: { $0.file == "-" }) > 1 {
      throw UsageProblem(message: "two reports cannot share standard output; give one of them a file")
    }
    if open, !requests.contains(where: { $0.kind == .html && $0.file != "-" }) {
      throw UsageProblem(message: "--open shows the page of --report html=FILE; give it a file")
    }
  }

  /// Checks every file before the first run, so that a mistyped folder is reported before any run. What files hold stays
  /// until there is something to take its place.
  ///
  /// - Parameter inputs: Files that are read, and must not be overwritten.
  mutating func open(inputs: [String]) throws {
    let written = requests.filter { $0.file != "-" }
    try DistinctFiles.check(written.map { ("--report \($0.kind.rawValue)", $0.file) }, inputs: inputs)
    sinks = try requests.map { request in
      guard request.file != "-" else { return nil }
      let kind = try? FileManager.default.attributesOfItem(atPath: Self.target(of: request.file))[.type]
      guard let kind = kind as? FileAttributeType, kind != .typeRegular else {
        try ReportOutputs.check(request.file)
        return nil
      }
      return try ReportOutputs.sink(request.file)
    }
  }

  /// Returns the path behind symbolic links.
  private static func target(of path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }

  /// Whether a report uses standard output.
  var isOutputTaken: Bool { requests.contains { $0.file == "-" } }

  func write(_ report: CompareReport) throws {
    for (request, sink) in zip(requests, sinks) {
      let text =
        switch request.kind {
        case .html: ComparePage(report, environment: .current).html
        case .csv: report.csv
        case .json: report.json(.current).description + "\n"
        }
      guard request.file != "-" else {
        Output.text(text)
        continue
      }
      let sink = try sink ?? ReportOutputs.sink(request.file)
      sink.write(text)
      try sink.close()
      if request.kind == .html, opensPage, !OpenCommand.show(request.file) {
        Output.error(TextStyle.printable(request.file) + "\n")
      }
    }
  }
}
