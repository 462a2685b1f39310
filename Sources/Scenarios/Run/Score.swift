package import CallCore

/// What an external program scores of what a peer heard or saw in a run, compared with what was said or taken.
package struct Score: Hashable, Sendable {
  /// The name of the scorer.
  package var scorer: String
  /// The peer that heard or saw it.
  package var peer: String
  /// The score; nil if there is none.
  package var value: Double?
  /// Why there is no score; nil if there is one.
  package var problem: String?
  /// For how long it was heard or seen; nil if that is unknown.
  package var time: Interval?
  /// When the window of what was scored opened and closed; nil if it never opened.
  package var opened: Instant?
  package var closed: Instant?
  /// Whether it is of pictures, rather than of speech.
  package var isOfPictures = false

  /// Makes a score, or the lack of one.
  package init(scorer: String, peer: String, value: Double? = nil, problem: String? = nil) {
    self.scorer = scorer
    self.peer = peer
    self.value = value
    self.problem = problem
  }
}
