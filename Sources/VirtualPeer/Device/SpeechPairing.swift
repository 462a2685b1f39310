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
  /// The position up to which the device stood still: what is before it was missed, also what is heard late.
  private var missed: AudioPosition?
  /// The comfort noise that was heard since, a piece each.
  private var pending: [Heard] = []
  /// Compression leaves out up to a pitch period a time, whose sound is heard in the rest; what is longer is missing.
  private let compression = 4
  /// What has not come when so many more pieces of comfort noise were heard never will: half a second.
  private let patience = 50
  /// What was said less than 200 ms ago is on its way.
  private let transit = 20
  /// For how many pieces more nothing is given up, since the recording went on after a gap.
  private var wait = 0
  /// The ticks of the media clock in a piece.
  private var ticks: UInt32 = 0
  /// The pieces since the last that was heard for which it is unknown what was due: no stream was recorded.
  private var unknown = 0

  package init() {}

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
      (next, wait, unknown) = (said?.end, 0, 0)
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

  /// Calls `body` with the piece that was due while the device stood still for ``audioDevicePeriod``.
  package mutating func standStill<Piece>(
    recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    while !pending.isEmpty { giveUp(recorded, body) }
    guard let piece = due(recorded) else { return }
    missed = next
    body(piece, .leftOut)
  }

  /// Returns the piece that was due next; nil before the first, and while nothing is recorded.
  private mutating func due<Piece>(_ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?) -> Piece? {
    guard let place = next else { return nil }
    guard let said = recorded(place) else {
      wait = transit
      unknown += 1
      return nil
    }
    guard wait == 0 else {
      wait -= 1
      return nil
    }
    next = said.end
    return said.piece
  }

  /// Gives up the oldest piece that was due.
  private mutating func giveUp<Piece>(
    _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    let heard = pending.removeFirst()
    if let piece = due(recorded) { body(piece, .replaced(heard)) }
  }

  /// Returns what a new stream carried before the position at which it is heard first, as far as nothing else was due meanwhile.
  private func begun<Piece>(
    before position: AudioPosition, _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?
  ) -> [Piece] {
    (0..<unknown + pending.count).reversed().compactMap { index in
      let ahead = ticks &* UInt32(index + 1)
      return recorded(AudioPosition(ssrc: position.ssrc, timestamp: position.timestamp &- ahead))?.piece
    }
  }

  /// Tells what became of the sound from the last known position up to one that is played.
  private mutating func settle<Piece>(
    before position: AudioPosition, _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?,
    _ body: (Piece?, Fate) -> Void
  ) {
    var lost: [Piece] = []
    if var place = next, place.ssrc == position.ssrc {
      if let missed, missed.ssrc == place.ssrc, Int32(bitPattern: missed.timestamp &- place.timestamp) > 0 {
        place = missed
      }
      while let said = recorded(place),
        Int32(bitPattern: position.timestamp &- said.end.timestamp) >= 0
      {
        lost.append(said.piece)
        place = said.end
      }
    } else if next != nil {
      lost = begun(before: position, recorded)
    }
    if pending.isEmpty, lost.count <= compression { return }
    for (index, heard) in pending.enumerated() { body(index < lost.count ? lost[index] : nil, .replaced(heard)) }
    for piece in lost.dropFirst(pending.count) { body(piece, .leftOut) }
    pending.removeAll(keepingCapacity: true)
  }
}
