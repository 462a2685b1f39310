package import ScenarioFormat

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
}
