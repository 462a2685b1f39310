internal import CallCore

/// Counts what becomes of the speech that is due to be heard over a connection: the losses behind `q.concealment` and `q.mos`.
package final class SpeechLoss {
  /// Counters of frames of 10 ms.
  struct Counts: Hashable {
    /// The frames in which somebody spoke.
    var frames = 0
    /// Those of them that were concealed, were left out, or fell into comfort noise.
    var lost = 0
    /// The number of times that such frames began.
    var bursts = 0
  }

  package let connection: String
  private(set) var counts = Counts()
  private var isLosing = false
  /// Whether it is known what was said.
  private(set) var isKnown = false
  /// The frames of speech that were lost between the last two frames that were heard, and since the last one.
  private(set) var lostBeforeHeard = 0
  private var lostSinceHeard = 0
  /// The frames behind a sample of `q.concealment`: so many, that samples are as frequent as others while somebody speaks, and
  /// all of one weight.
  private static let length = 25
  private var shares: [Double] = []
  private var (framesInShare, lostInShare) = (0, 0)

  init(over connection: String) { self.connection = connection }

  /// The names of the values that are samples of speech.
  static let names: Set<String> = [HarnessEvents.concealment.name, HarnessEvents.meanOpinionScore.name]

  /// Whether so much was lost before the frame that is heard that it interrupted the speech.
  var wasInterrupted: Bool { lostBeforeHeard >= Self.interruption }

  /// 100 ms: shorter gaps are concealed losses.
  private static let interruption = 10

  /// Takes a frame that was due to be heard.
  package func note(isSpeech: Bool, isHeard: Bool) {
    isKnown = true
    let isLost = isSpeech && !isHeard
    if isLost { lostSinceHeard += 1 }
    if isHeard { (lostBeforeHeard, lostSinceHeard) = (lostSinceHeard, 0) }
    if isLost { counts.lost += 1 }
    if isLost, !isLosing { counts.bursts += 1 }
    isLosing = isLost
    guard isSpeech else { return }
    counts.frames += 1
    framesInShare += 1
    if isLost { lostInShare += 1 }
    guard framesInShare == Self.length else { return }
    shares.append(Double(lostInShare) / Double(Self.length))
    (framesInShare, lostInShare) = (0, 0)
  }

  /// Begins anew with the next connection; the counts go on.
  func restart() {
    (framesInShare, lostInShare, lostBeforeHeard, lostSinceHeard, isLosing) = (0, 0, 0, 0, false)
  }

  /// Returns the share of lost frames in each 250 ms of speech since the last time.
  func takeShares() -> [Double] {
    defer { shares.removeAll(keepingCapacity: true) }
    return shares
  }
}
