internal import Formats
internal import Foundation
internal import ScenarioRun

/// An external program that scores what was heard against what was said, or what was seen against what a camera took.
package struct ExternalScorer: Sendable, Equatable {
  /// A recording that the program reads, as its command names it.
  package enum Recording: String, CaseIterable, Sendable {
    case reference = "ref"
    case degraded = "deg"
    case reference16 = "ref16"
    case degraded16 = "deg16"
    case takenPictures = "refvideo"
    case seenPictures = "degvideo"

    /// The sampling rate of a file of sound, in Hz; nil for one of pictures.
    package var sampleRate: Int? {
      switch self {
      case .reference, .degraded: 48_000
      case .reference16, .degraded16: 16_000
      case .takenPictures, .seenPictures: nil
      }
    }

    var isOfPictures: Bool { sampleRate == nil }

    /// Whether it holds what was said, or taken.
    var isReference: Bool { [.reference, .reference16, .takenPictures].contains(self) }

    package var placeholder: String { "{\(rawValue)}" }
  }

  package let name: String
  /// The command for a shell, with the places of the recordings.
  package let command: String
  /// The time after which the program is ended, in seconds.
  package let limit: Int
  package static let usualLimit = 60

  /// Why text is no scorer.
  package struct Problem: Error { package let message: String }

  /// Reads `name=command`, or the name of a preset.
  package init(_ text: String, limit: Int = usualLimit) throws(Problem) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }) else {
      throw Problem(message: "--scorer takes name='command {ref} {deg}' or a preset, not '\(text)'")
    }
    guard parts.count == 2 else {
      guard let preset = ScorerPreset.all.first(where: { $0.name == name }) else {
        let names = ScorerPreset.all.map(\.name).joined(separator: " and ")
        throw Problem(message: "--scorer: '\(name)' is no preset, there are \(names); give a command: name='command'")
      }
      self.init(name: name, command: preset.command, limit: limit)
      return
    }
    self.init(name: name, command: parts[1], limit: limit)
    let used = recordings
    guard used.contains(where: \.isReference), used.contains(where: { !$0.isReference }),
      Set(used.map(\.isOfPictures)).count == 1
    else {
      throw Problem(
        message: "--scorer \(name): the command must name what was said as {ref} or {ref16} and what was heard as "
          + "{deg} or {deg16}, or else what was taken as {refvideo} and what was seen as {degvideo}")
    }
  }

  /// Whether it scores pictures, rather than sound.
  package var isOfPictures: Bool { recordings.contains(where: \.isOfPictures) }

  private init(name: String, command: String, limit: Int) {
    self.name = name
    self.command = command
    self.limit = limit
  }

  /// The recordings that the command names.
  package var recordings: [Recording] { Recording.allCases.filter { command.contains($0.placeholder) } }

  /// Returns the score of recordings in a folder, each named after its placeholder; or why there is none.
  func score(in folder: String) -> Result<Double, Problem> {
    var text = command
    for recording in recordings {
      text = text.replacing(recording.placeholder, with: ShellWord.quoted(Self.file(recording, in: folder)))
    }
    let end = BoundedProcess.run(shell: text, in: folder, limit: .seconds(limit))
    switch end.death {
    case .timeout: return .failure(Problem(message: "still running after \(limit) s" + Self.quoted(end, in: folder)))
    case .exit(let death) where death != .exit(0):
      return .failure(Problem(message: "the program \(death.description)" + Self.quoted(end, in: folder)))
    case .exit: break
    case .failure(let reason): return .failure(Problem(message: reason))
    }
    guard let number = Self.number(in: end.output) else {
      return .failure(Problem(message: "the last word of its output is no number" + Self.quoted(end, in: folder)))
    }
    guard number == 0 || Self.magnitudes.contains(number.magnitude) else {
      return .failure(
        Problem(message: "a score is 0, or has a magnitude of 1e-100 to 1e100" + Self.quoted(end, in: folder)))
    }
    return .success(number)
  }

  /// Returns the score of a peer from the recordings in a folder, or the lack of one.
  func score(of peer: String, in folder: String) -> Score {
    switch score(in: folder) {
    case .success(let value): Score(scorer: name, peer: peer, value: value)
    case .failure(let problem): Score(scorer: name, peer: peer, problem: problem.message)
    }
  }

  /// Returns the path of a new folder for recordings.
  static func temporaryFolder() -> String {
    FileManager.default.temporaryDirectory.appending(path: "callsim-score-\(UUID().uuidString)").path
  }

  static func file(_ recording: Recording, in folder: String) -> String {
    "\(folder)/\(recording.rawValue).\(recording.isOfPictures ? "y4m" : "wav")"
  }

  /// Of these the squares are numbers too, which intervals take.
  private static let magnitudes = 1e-100...1e100

  /// Returns the last word of the output, if it is a decimal number.
  static func number(in output: String) -> Double? {
    guard let word = output.split(whereSeparator: \.isWhitespace).last,
      word.wholeMatch(of: /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/) != nil
    else { return nil }
    return Double(word).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Returns the last line that the program printed, for a message that is the same for every run.
  private static func quoted(_ end: BoundedProcess.End, in folder: String) -> String {
    let texts = [end.errors, end.output].map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    guard let line = texts.first(where: { !$0.isEmpty })?.split(whereSeparator: \.isNewline).last else {
      return ", and it printed nothing"
    }
    return ": \(line.replacing(folder + "/", with: "").replacing(folder, with: "").prefix(200))"
  }
}

extension ExternalScorer {
  var json: JSON {
    ["name": .string(name), "command": .string(command), "limit": .integer(Int64(limit))]
  }

  init?(json: JSON) {
    guard let name = json["name"]?.string, let command = json["command"]?.string,
      let limit = json["limit"]?.integer.flatMap(Int.init(exactly:))
    else { return nil }
    self.init(name: name, command: command, limit: limit)
  }
}
