internal import CallCore
internal import Formats
internal import Foundation
internal import Pictures
internal import ScenarioFormat
internal import ScenarioRun

/// The pictures that the peers of a run saw, beside those that were taken, in files for programs that score them.
final class SeenPictures {
  /// The two files of a peer. They are written while the run goes on: seconds of pictures fill a memory.
  private struct Recording {
    var writer: Y4MWriter
    let sink: FileSink

    init(_ path: String, _ size: PictureSize) throws {
      writer = Y4MWriter(size: size, frameRate: .fps30)
      sink = try FileSink(path: path)
    }

    mutating func append(_ frame: VideoFrame) throws {
      try writer.append(frame.scaled(to: writer.size))
      let bytes = writer.take()
      sink.write(bytes.span.bytes)
    }
  }

  /// The problem of a peer that no camera films for, which is none of the scorer.
  static let nothing = "no camera was seen"

  private let scorers: [ExternalScorer]
  private let folder = ExternalScorer.temporaryFolder()
  private let peers: [(name: String, hasOneConnection: Bool)]
  private var recordings: [String: (taken: Recording, seen: Recording, time: Interval)] = [:]
  private var failure: (any Error)?

  init(_ scenario: Scenario, _ scorers: [ExternalScorer]) {
    self.scorers = scorers
    peers = scenario.peers.map { ($0.name, $0.onlyConnection != nil) }
  }

  /// Deletes the files.
  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  func add(_ pair: PicturePair, seenBy peer: String) {
    guard failure == nil else { return }
    do {
      if recordings[peer] == nil {
        let place = "\(folder)/\(peer)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        recordings[peer] = (
          try Recording(ExternalScorer.file(.takenPictures, in: place), pair.size),
          try Recording(ExternalScorer.file(.seenPictures, in: place), pair.size), .zero
        )
      }
      try recordings[peer]?.taken.append(pair.taken)
      try recordings[peer]?.seen.append(pair.seen)
      recordings[peer]?.time += pair.duration
    } catch {
      failure = error
    }
  }

  /// Scores what each peer saw, with each scorer.
  func scores() -> [Score] {
    for (_, pair) in recordings {
      do {
        try pair.taken.sink.close()
        try pair.seen.sink.close()
      } catch {
        failure = failure ?? error
      }
    }
    return peers.flatMap { peer, hasOneConnection in
      scorers.map { scorer in
        guard hasOneConnection else {
          return Score(scorer: scorer.name, peer: peer, problem: HeardSpeech.severalConnections)
        }
        if let failure {
          return Score(scorer: scorer.name, peer: peer, problem: "no recording to score: \(failure)")
        }
        guard recordings[peer] != nil else { return Score(scorer: scorer.name, peer: peer, problem: Self.nothing) }
        var score = scorer.score(of: peer, in: "\(folder)/\(peer)")
        score.isOfPictures = true
        score.time = recordings[peer]?.time ?? .zero
        return score
      }
    }
  }
}
