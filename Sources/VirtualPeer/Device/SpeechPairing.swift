package import CallCore
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
  /// When a piece that was due was followed last: since then it is unknown what was.
  private var followed: Instant?

  package init() {}

  /// Calls `body` with each piece that was due to be heard.
  ///
  /// - Parameters:
  ///   - heard: What is played for ``audioDevicePeriod``.
  ///   - place: Where it is from.
  ///   - recorded: Returns what was recorded from a position on, and the position after it.
  ///   - body: Takes what was said; nil where nothing was, because what was sent came later.
  package mutating func pair<Piece>(
    _ heard: Heard, from place: PlayedPlace, at now: Instant,
    recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    switch place {
    case .sent(let position):
      // Of a stream that a server forwards no more it is unknown where the last sound is from.
      guard let said = recorded(position) else { return }
      if !isMissed(position) {
        settle(before: position, at: now, recorded, body)
        (next, wait, followed) = (said.end, 0, now)
        ticks = said.end.timestamp &- position.timestamp
      }
      body(said.piece, .played(heard))
    case .concealed:
      while !pending.isEmpty { giveUp(at: now, recorded, body) }
      pending.append(heard)
      giveUp(at: now, recorded, body)
    case .comfort:
      guard next != nil else { return }
      pending.append(heard)
      if pending.count > patience { giveUp(at: now, recorded, body) }
    }
  }

  /// Calls `body` with the piece that was due while the device stood still for ``audioDevicePeriod``.
  package mutating func standStill<Piece>(
    at now: Instant, recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    while !pending.isEmpty { giveUp(at: now, recorded, body) }
    guard let piece = due(at: now, recorded) else { return }
    missed = next
    body(piece, .leftOut)
  }

  /// Whether the device stood still when a position was due: it is heard late.
  private func isMissed(_ position: AudioPosition) -> Bool {
    guard let missed, missed.ssrc == position.ssrc else { return false }
    return Int32(bitPattern: missed.timestamp &- position.timestamp) > 0
  }

  /// Returns the piece that was due next; nil before the first, and while nothing is recorded.
  private mutating func due<Piece>(
    at now: Instant, _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?
  ) -> Piece? {
    guard let place = next else { return nil }
    guard let said = recorded(place) else {
      wait = transit
      return nil
    }
    guard wait == 0 else {
      wait -= 1
      return nil
    }
    (next, followed) = (said.end, now)
    return said.piece
  }

  /// Gives up the oldest piece that was due.
  private mutating func giveUp<Piece>(
    at now: Instant, _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?,
    _ body: (Piece?, Fate) -> Void
  ) {
    let heard = pending.removeFirst()
    if let piece = due(at: now, recorded) { body(piece, .replaced(heard)) }
  }

  /// Returns what a new stream carried before the position at which it is heard first, as far as nothing else was due meanwhile.
  private func begun<Piece>(
    before position: AudioPosition, at now: Instant,
    _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?
  ) -> [Piece] {
    guard let followed else { return [] }
    let count = Int((now - followed).nanoseconds / audioDevicePeriod.interval.nanoseconds)
    return (0..<max(0, count)).reversed().compactMap { index in
      let ahead = ticks &* UInt32(index)
      return recorded(AudioPosition(ssrc: position.ssrc, timestamp: position.timestamp &- ticks &- ahead))?.piece
    }
  }

  /// Tells what became of the sound from the last known position up to one that is played.
  private mutating func settle<Piece>(
    before position: AudioPosition, at now: Instant,
    _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    var lost: [Piece] = []
    if var place = next, place.ssrc == position.ssrc {
      while let said = recorded(place), Int32(bitPattern: position.timestamp &- said.end.timestamp) >= 0 {
        lost.append(said.piece)
        place = said.end
      }
    } else if next != nil {
      lost = begun(before: position, at: now, recorded)
    }
    if pending.isEmpty, lost.count <= compression { return }
    for (index, heard) in pending.enumerated() { body(index < lost.count ? lost[index] : nil, .replaced(heard)) }
    for piece in lost.dropFirst(pending.count) { body(piece, .leftOut) }
    pending.removeAll(keepingCapacity: true)
  }
}
