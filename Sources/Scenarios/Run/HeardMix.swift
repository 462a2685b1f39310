internal import CallCore
internal import PeerSession
internal import ScenarioJudge
internal import VirtualPeer

/// Tells what a peer hears over a connection from the one stream in which somebody speaks, beside what was said.
struct HeardMix {
  private typealias Fate = SpeechPairing<[Int16]>.Fate
  private typealias Pieces = [(said: [Int16]?, fate: Fate)]
  /// Returns what was recorded from a position on, and the position after it.
  typealias Recorded = (AudioPosition) -> (piece: [Int16], end: AudioPosition)?

  private var pairings: [SpeechPairing<[Int16]>] = []
  /// The stream in which somebody spoke last.
  private var speaking: Int?

  /// Takes what is heard of all streams together, and calls `body` with what was due.
  mutating func hear(
    _ heard: [Int16], from places: [PlayedPlace], at now: Instant, recorded: Recorded, _ body: (HeardPiece) -> Void
  ) {
    while pairings.count < places.count { pairings.append(SpeechPairing()) }
    let due = places.enumerated().map { index, place in
      var pieces: Pieces = []
      pairings[index].pair(heard, from: place, at: now, recorded: recorded) { pieces.append(($0, $1)) }
      return pieces
    }
    tell(due, count: heard.count, body)
  }

  /// Notes that nothing was heard for as long as so many samples last, and calls `body` with what was due.
  mutating func standStill(_ count: Int, at now: Instant, recorded: Recorded, _ body: (HeardPiece) -> Void) {
    let due = pairings.indices.map { index in
      var pieces: Pieces = []
      pairings[index].standStill(at: now, recorded: recorded) { pieces.append(($0, $1)) }
      return pieces
    }
    tell(due, count: count, body)
  }

  /// Calls `body` with what was due of the stream in which somebody spoke.
  private mutating func tell(_ streams: [Pieces], count: Int, _ body: (HeardPiece) -> Void) {
    let due = streams.enumerated().filter { !$0.element.isEmpty }
    let spoken = due.filter { $0.element.contains { $0.said.map { SpeechMeter.isSpeech($0) } ?? false } }
    guard spoken.count < 2 else { return body(.mixed) }
    guard let one = spoken.first ?? due.first(where: { $0.offset == speaking }) ?? due.first else { return }
    // What was due of this stream while another one spoke was heard with that one.
    let isSame = speaking == nil || speaking == one.offset
    if !spoken.isEmpty { speaking = one.offset }
    let silence = Array(repeating: Int16(0), count: count)
    for (said, fate) in isSame ? one.element[...] : one.element.suffix(1) {
      switch fate {
      case .played(let heard), .replaced(let heard): body(.paired(said: said ?? silence, heard: heard))
      case .leftOut: body(.paired(said: said ?? silence, heard: silence))
      }
    }
  }
}
