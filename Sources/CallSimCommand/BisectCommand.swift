import ArgumentParser
import Foundation
import ScenarioFormat
import ScenarioSuite

struct BisectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bisect", abstract: "Find the commit since which a scenario fails, by builds of a git repository.",
    discussion: """
      For example: \(ProgramName.current) bisect regressions/consent.yaml --good v1.2 --build 'make build' --program \
      .build-release/release/callsim. Each commit is built in a working tree of its own, so that yours stays as it is. \
      A commit that does not build, or cannot judge the file, is skipped. Exit codes: 0 the commit was found, 2 bad \
      usage, 4 the commits that are left cannot be judged.
      """)

  @Argument(help: "The scenario file.", completion: .file(extensions: ["yaml", "yml"]))
  var file: String

  @Option(help: ArgumentHelp("A commit at which it passes.", valueName: "commit"))
  var good: String

  @Option(help: ArgumentHelp("A commit at which it fails.", valueName: "commit"))
  var bad = "HEAD"

  @Option(help: ArgumentHelp("The shell command that builds the program.", valueName: "command"))
  var build: String

  @Option(help: ArgumentHelp("The program that it builds, seen from the root of the repository.", valueName: "path"))
  var program: String

  func run() throws {
    guard FileManager.default.isReadableFile(atPath: file) else {
      throw UsageProblem(message: "\(TextStyle.printable(file)) cannot be read; name a scenario file")
    }
    let repository = try GitRepository(at: FileManager.default.currentDirectoryPath)
    // Names such as HEAD~1 mean something else in the working tree.
    let (first, last) = (try repository.commit(good), try repository.commit(bad))
    let tree = try repository.addWorkingTree(at: last)
    defer { tree.remove() }
    try require(.fails, at: last, called: bad, in: tree)
    try require(.passes, at: first, called: good, in: tree)
    try tree.git("bisect", "start", last, first)
    while true {
      let commit = try tree.git("rev-parse", "--short", "HEAD")
      let verdict = try judge(in: tree)
      Output.error("\(commit) \(verdict.words)\n")
      // Builds change tracked files, such as those that pin packages.
      try tree.git("reset", "--quiet", "--hard")
      let answer = try tree.git("bisect", verdict.answer, isAllowedToFail: true)
      if let line = answer.split(separator: "\n").first(where: { $0.hasSuffix("is the first bad commit") }) {
        let hash = String(line.prefix { $0 != " " })
        return Output.text(try tree.git("show", "--stat", "--format=%h %s%n%an, %ad", "--date=iso", hash) + "\n")
      }
      guard try tree.git("rev-parse", "--short", "HEAD") != commit else {
        Output.error("error: the commits that are left cannot be judged:\n\(TextStyle.printable(answer))\n")
        throw ExitStatus.inconclusive.code
      }
    }
  }

  private enum Judgement {
    case passes, fails
    /// It does not build, or cannot judge the file; the reason.
    case unknown(String)

    var words: String {
      switch self {
      case .passes: "passes"
      case .fails: "fails"
      case .unknown(let reason): "is skipped: \(reason)"
      }
    }

    /// The word for `git bisect`.
    var answer: String {
      switch self {
      case .passes: "good"
      case .fails: "bad"
      case .unknown: "skip"
      }
    }
  }

  private func require(
    _ wanted: Judgement, at hash: String, called commit: String, in tree: GitRepository.WorkingTree
  ) throws {
    try tree.git("checkout", "--quiet", "--detach", "--force", hash)
    let judgement = try judge(in: tree)
    guard judgement.answer == wanted.answer else {
      let option = wanted.answer == "bad" ? "--bad" : "--good"
      throw UsageProblem(
        message: "at \(TextStyle.printable(commit)) \(TextStyle.printable(file)) \(judgement.words); \(option) takes a "
          + "commit at which it \(wanted.words)")
    }
    Output.error("\(TextStyle.printable(commit)) \(judgement.words)\n")
  }

  /// Builds the commit that is checked out, and plays the file.
  private func judge(in tree: GitRepository.WorkingTree) throws -> Judgement {
    guard try Subprocess.run("/bin/sh", ["-c", build], in: tree.path).status == 0 else {
      return .unknown("it does not build")
    }
    let path = tree.path + "/" + program
    guard FileManager.default.isExecutableFile(atPath: path) else { return .unknown("it builds no \(program)") }
    let absolute = URL(filePath: file).path
    let status = try Subprocess.run(path, ["run", absolute, "--artifacts", "none"], in: tree.path).status
    switch ExitStatus(rawValue: status) {
    case .pass: return .passes
    case .expectationFailed, .broken, .nondeterministic: return .fails
    case .badUsage, .badScenario, .inconclusive, .vacuous, .wallLimit, .interrupted, nil:
      return .unknown("it cannot judge the file (exit code \(status))")
    }
  }
}
