/// The value with the last callback of a profile's SDK: what an expectation on their order reads.
public enum CallbackVocabulary {
  /// The name in scenarios, of a peer (all callbacks) and of each remote user (those about that user).
  public static let last = "callback"

  static func values(of events: [EventDeclaration]) -> [ValueDeclaration] {
    guard !events.isEmpty else { return [] }
    return [
      ValueDeclaration(
        last, .choice(events.map(\.name)), "the last of these callbacks of the SDK; of a remote user, about it")
    ]
  }
}
