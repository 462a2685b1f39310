internal import CallCore
internal import Formats
internal import Foundation
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// The speech that the peers of a run heard, beside what was said, for programs that score it.
final class HeardSpeech {
  private var peers: [(name: String, said: [Int16], heard: [Int16], problem: String?)]
  /// Sound that stands further from its reference than this is not scored, in either direction.
  private static let tolerance = Interval.milliseconds(5)
  /// The problem of a peer that nobody speaks to, which is none of the scorer.
  static let silence = "nothing was said"

  /// The problem of a peer who hears a mix: there is no one recording to hold it against.
  static let mixture = "several spoke at once over the peer's only connection"

  /// The problem of a peer who is connected to several others.
  static let severalConnections = "the peer may have several connections"

  init(_ scenario: Scenario) {
    peers = scenario.peers.map { ($0.name, [], [], $0.onlyConnection == nil ? Self.severalConnections : nil) }
  }

  func add(_ piece: HeardPiece, by peer: String) {
    guard let index = peers.firstIndex(where: { $0.name == peer }) else { return }
    switch piece {
    case .paired(let said, let heard):
      peers[index].said += said
      peers[index].heard += heard
    case .mixed: peers[index].problem = Self.mixture
    }
  }

  /// Scores what each peer heard, with each scorer.
  func scores(_ scorers: [ExternalScorer]) -> [Score] {
    peers.flatMap { peer -> [Score] in
      let problem = peer.problem ?? Self.problem(said: peer.said, heard: peer.heard)
      if let problem {
        return scorers.map { Score(scorer: $0.name, peer: peer.name, problem: problem) }
      }
      let folder = ExternalScorer.temporaryFolder()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      do {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.write(peer.said, peer.heard, to: folder, Set(scorers.flatMap(\.recordings)))
      } catch {
        return scorers.map { Score(scorer: $0.name, peer: peer.name, problem: "no recording to score: \(error)") }
      }
      return scorers.map { scorer in
        var score = scorer.score(of: peer.name, in: folder)
        score.time = .milliseconds(Int64(peer.heard.count / 48))
        return score
      }
    }
  }

  /// The reason why recordings cannot be scored; nil if they can.
  private static func problem(said: [Int16], heard: [Int16]) -> String? {
    if heard.isEmpty { return "no sound was heard beside its source over the peer's only connection" }
    guard isSpoken(said) else { return silence }
    guard let lag = SpeechAlignment.lag(said: said, heard: heard), lag > tolerance || -lag > tolerance else {
      return nil
    }
    return "what was heard stands \(lag > .zero ? lag : -lag) \(lag > .zero ? "behind" : "before") what was said"
  }

  private static func isSpoken(_ said: [Int16]) -> Bool {
    stride(from: 0, to: said.count - 479, by: 480).contains { SpeechMeter.isSpeech(said[$0..<$0 + 480]) }
  }

  private static func write(
    _ said: [Int16], _ heard: [Int16], to folder: String, _ recordings: Set<ExternalScorer.Recording>
  ) throws {
    for recording in ExternalScorer.Recording.allCases where recordings.contains(recording) {
      var samples = recording.isReference ? said : heard
      guard let rate = recording.sampleRate else { continue }
      if rate != 48_000 {
        samples = Resampler(from: 48_000, to: rate).resample(samples.map(Double.init))
          .map { Int16(max(-32_768, min(32_767, $0.rounded()))) }
      }
      let file = try WAVFile(
        path: ExternalScorer.file(recording, in: folder), sampleRate: UInt32(rate))
      file.append(samples.span)
      try file.close()
    }
  }
}

extension Scenario {
  /// The part of a run whose sound and pictures are scored: the window of the first number that a comparison shows and that has
  /// one, or the whole run.
  var measuredWindow: Window {
    expectations.lazy.filter(\.isMeasure).compactMap { $0.delta?.metric.window }.first { $0 != Window() } ?? Window()
  }
}
