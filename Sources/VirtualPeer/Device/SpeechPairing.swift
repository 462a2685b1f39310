internal import Codecs
package import PeerSession

/// Puts beside each piece of sound that is played what was recorded at its position.
///
/// What is heard stays whole and in order: beside concealed sound stands what was said meanwhile. While the comfort noise of
/// a pause is played, the place in the recording is unknown: the next sound that was sent tells what was lost, and what only
/// comes later. After sound that was stretched or compressed the recording goes on at the new position.
package struct SpeechPairing<Heard> {
  /// What became of a piece that was said.
  package enum Fate {
    /// It is what is heard.
    case played(Heard)
    /// Concealment or comfort noise is heard in its place.
    case replaced(Heard)
    /// Nothing is heard in its place: a frame of ``audioDevicePeriod`` was left out.
    case leftOut
  }

  /// The position after the last sample that was played or is known to be lost.
  private var next: AudioPosition?
  /// The ticks of the media clock in a piece; zero before the first.
  private var ticks: UInt32 = 0
  /// The comfort noise that was heard since, a piece each.
  private var pending: [Heard] = []
  /// Compression leaves out up to a pitch period a time, whose sound is heard in the rest; what is longer is missing.
  private let compression = 4
  /// What has not come when so many more pieces of comfort noise were heard never will: half a second.
  private let patience = 50
  /// Of a longer gap the last pieces count.
  private let longestGap: UInt32

  /// - Parameter longestGap: The number of pieces that a recording keeps.
  package init(longestGap: UInt32 = .max) { self.longestGap = longestGap }

  /// Calls `body` with each piece that was due to be heard.
  ///
  /// - Parameters:
  ///   - heard: What is played for ``audioDevicePeriod``.
  ///   - place: Where it is from.
  ///   - recorded: Returns what was recorded from a position on, and the position after it.
  ///   - body: Takes what was said; nil where nothing was, because what was sent came later.
  package mutating func pair<Piece>(
    _ heard: Heard, from place: PlayedPlace,
    recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    switch place {
    case .sent(let position):
      settle(before: position, recorded, body)
      let said = recorded(position)
      if !isBehind(said?.end) { next = said?.end }
      if let said {
        ticks = said.end.timestamp &- position.timestamp
        body(said.piece, .played(heard))
      }
    case .concealed:
      while !pending.isEmpty { giveUp(recorded, body) }
      pending.append(heard)
      giveUp(recorded, body)
    case .comfort:
      guard next != nil else { return }
      pending.append(heard)
      if pending.count > patience { giveUp(recorded, body) }
    }
  }

  /// Whether what is played was given up before, as what came while a device stood still: what follows it was, too.
  private func isBehind(_ end: AudioPosition?) -> Bool {
    guard let end, let next, next.ssrc == end.ssrc else { return false }
    return Int32(bitPattern: next.timestamp &- end.timestamp) > 0
  }

  /// Gives up the oldest piece that was due. Where nothing is recorded any more nobody knows what comes next.
  private mutating func giveUp<Piece>(
    _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    let heard = pending.removeFirst()
    guard let place = next else { return }
    let said = recorded(place)
    next = said?.end
    if let said { body(said.piece, .replaced(heard)) }
  }

  /// Tells what became of the sound from the last known position up to one that is played.
  private mutating func settle<Piece>(
    before position: AudioPosition, _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?,
    _ body: (Piece?, Fate) -> Void
  ) {
    var lost: [Piece] = []
    if var place = next, place.ssrc == position.ssrc {
      let gap = position.timestamp &- place.timestamp
      if Int32(bitPattern: gap) > 0, gap / max(1, ticks) > longestGap {
        place = AudioPosition(ssrc: place.ssrc, timestamp: position.timestamp &- longestGap * ticks)
      }
      while lost.count < longestGap, let said = recorded(place),
        Int32(bitPattern: position.timestamp &- said.end.timestamp) >= 0
      {
        lost.append(said.piece)
        place = said.end
      }
    }
    if pending.isEmpty, lost.count <= compression { return }
    for (index, heard) in pending.enumerated() { body(index < lost.count ? lost[index] : nil, .replaced(heard)) }
    for piece in lost.dropFirst(pending.count) { body(piece, .leftOut) }
    pending.removeAll(keepingCapacity: true)
  }
}
