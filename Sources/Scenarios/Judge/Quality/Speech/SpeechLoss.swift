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

  init(over connection: String) { self.connection = connection }

  /// The names of the values that depend on it.
  static let names: Set<String> = [HarnessEvents.concealment.name, HarnessEvents.meanOpinionScore.name]

  /// Takes a frame that was due to be heard.
  package func note(isSpeech: Bool, isHeard: Bool) {
    let isLost = isSpeech && !isHeard
    if isSpeech { counts.frames += 1 }
    if isLost { counts.lost += 1 }
    if isLost, !isLosing { counts.bursts += 1 }
    isLosing = isLost
  }
}
