internal import PeerSession
internal import ScenarioJudge
internal import VirtualPeer

/// Tells what a peer hears over a connection from the one stream in which somebody speaks, beside what was said.
struct HeardMix {
  private typealias Fate = SpeechPairing<[Int16]>.Fate

  private var pairings: [SpeechPairing<[Int16]>] = []
  /// The stream in which somebody spoke last.
  private var speaking: Int?

  /// Takes what is heard of all streams together, and calls `body` with what was due.
  mutating func hear(
    _ heard: [Int16], from places: [PlayedPlace],
    recorded: (AudioPosition) -> (piece: [Int16], end: AudioPosition)?, _ body: (HeardPiece) -> Void
  ) {
    while pairings.count < places.count { pairings.append(SpeechPairing(longestGap: MicrophoneTape.longestGap)) }
    var due: [(stream: Int, pieces: [(said: [Int16]?, fate: Fate)])] = []
    for (index, place) in places.enumerated() {
      var pieces: [(said: [Int16]?, fate: Fate)] = []
      pairings[index].pair(heard, from: place, recorded: recorded) { pieces.append(($0, $1)) }
      if !pieces.isEmpty { due.append((index, pieces)) }
    }
    let spoken = due.filter { $0.pieces.contains { $0.said.map { SpeechMeter.isSpeech($0) } ?? false } }
    guard spoken.count < 2 else { return body(.mixed) }
    guard let one = spoken.first ?? due.first(where: { $0.stream == speaking }) ?? due.first else { return }
    // What was due of this stream while another one spoke was heard with that one.
    let isSame = speaking == nil || speaking == one.stream
    if !spoken.isEmpty { speaking = one.stream }
    let silence = Array(repeating: Int16(0), count: heard.count)
    for (said, fate) in isSame ? one.pieces[...] : one.pieces.suffix(1) {
      switch fate {
      case .played(let heard), .replaced(let heard): body(.paired(said: said ?? silence, heard: heard))
      case .leftOut: body(.paired(said: said ?? silence, heard: silence))
      }
    }
  }
}
