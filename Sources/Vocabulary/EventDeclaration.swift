/// An event at a peer, without a lasting value: an anchor, and a subject of `count`.
///
/// Those of a profile are the callbacks of its SDK.
public struct EventDeclaration: Sendable {
  /// The name in scenarios.
  public let name: String
  /// Whom the event is about.
  public let scope: NameScope
  /// A description for the documentation.
  public let summary: String

  /// Declares an event.
  public init(_ name: String, of scope: NameScope = .peer, _ summary: String) {
    self.name = name
    self.scope = scope
    self.summary = summary
  }
}
