/// Whom a state machine, value or event of a profile is about.
public enum NameScope: Hashable, Sendable {
  /// The peer itself: `alice.call.state`.
  case peer
  /// Each other user of the profile, as the peer's app knows them: `alice.to.bob.participant.state`. Nothing is known of
  /// one before the app names it.
  case remote
}
