/// The first parts of events with a name from the vocabulary: `alice.user.call`, `alice.code.kn.busy`,
/// `alice.sent.call_offer`.
package enum EventPrefix {
  /// An action of the user.
  package static let user = "user."
  /// An error code that the app raises.
  package static let code = "code."
  /// A message that leaves the app on a connection.
  package static let sent = "sent."
  /// A message that the app gets.
  package static let received = "received."
}
