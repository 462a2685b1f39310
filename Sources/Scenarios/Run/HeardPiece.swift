/// What a peer hears over a connection for a moment, beside what was said.
package enum HeardPiece: Sendable {
  /// Sound at 48 kHz, as long as what was said.
  case paired(said: [Int16], heard: [Int16])
  /// Several speak at once, so that what is heard is of no one recording.
  case mixed
}
