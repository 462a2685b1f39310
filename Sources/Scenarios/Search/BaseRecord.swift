internal import CallCore
package import ScenarioFormat
internal import Vocabulary

/// A run of a scenario without moves: moves that refer to what happens in it meet something more often.
package struct BaseRecord: Sendable, Equatable {
  /// The states of machines that were entered, by profile.
  package var states: [String: Set<String>] = [:]
  /// The messages that apps received, by profile.
  package var received: [String: Set<String>] = [:]
  /// One message of each type and receiver with its content, for other runs: those of this run have other ids,
  /// certificates and addresses.
  package var messages: [RawMessage] = []
  /// The states, messages and connections over time; nil if it is not known.
  package var course: RunCourse?

  package init() {}

  /// Returns the message of a type that came to a participant; nil if none did.
  func message(_ type: String, to participant: MoveAlphabet.Participant) -> RawMessage? {
    messages.first { $0.type == type && $0.to == participant.name }
  }

  /// Returns whether a participant entered a state; without the course, whether any of its profile did.
  func enters(_ state: String, _ participant: MoveAlphabet.Participant) -> Bool {
    guard let course else { return states[participant.vocabulary.profile]?.contains(state) ?? false }
    return course.stays.contains { $0.peer == participant.name && $0.state == state && !$0.isInitial }
  }
}
