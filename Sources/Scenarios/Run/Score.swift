/// What an external program scores of the speech that a peer heard in a run, compared with what was said.
package struct Score: Hashable, Sendable {
  /// The name of the scorer.
  package var scorer: String
  /// The peer that heard the speech.
  package var peer: String
  /// The score; nil if there is none.
  package var value: Double?
  /// Why there is no score; nil if there is one.
  package var problem: String?

  /// Makes a score, or the lack of one.
  package init(scorer: String, peer: String, value: Double? = nil, problem: String? = nil) {
    self.scorer = scorer
    self.peer = peer
    self.value = value
    self.problem = problem
  }
}
