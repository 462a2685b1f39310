internal import ScenarioFormat
internal import Vocabulary

/// What a finding is, apart from its words: the check that it broke, and how the machines of the peers concerned had come
/// to where they were.
///
/// Two findings with one signature are one thing to look at, in other seeds and after other changes: measured values, times
/// and wording are no part of it. `#2 | bob.call.state: ringing>connecting>ended (ice-failed)`
public struct FindingSignature: Hashable, Sendable, CustomStringConvertible {
  /// How a peer's main machine came to where it is.
  package struct Course: Hashable, Sendable {
    /// `bob.call.state`
    var machine: String
    /// The states of the last three transitions, the one that the first began from included.
    var states: [String]
    /// The newest end code or error code.
    var code: String?

    var text: String { "\(machine): \(states.joined(separator: ">"))" + (code.map { " (\($0))" } ?? "") }
  }

  static let transitions = 3

  public let text: String
  public var description: String { text }

  /// - Parameter text: as another process wrote it.
  package init(text: String) { self.text = text }

  /// - Parameter check: the id of an expectation, the name of an invariant, or what else was not as it should be.
  package init(_ check: String, _ courses: [Course] = []) {
    text = ([check] + courses.map(\.text)).joined(separator: " | ")
  }
}

extension Explanation {
  /// How far the main machines of peers have come; of more than two, those of the first two.
  func courses(of peers: [String]) -> [FindingSignature.Course] {
    let known = context.scenario.peers.map(\.name).filter(peers.contains).compactMap { peer in
      context.mainMachine(of: peer).map { (peer, $0.name) }
    }
    return known.prefix(2).compactMap { peer, machine in
      guard let changes = context.story.changes(machine, of: peer)?.elements else { return nil }
      let code = context.story.notes.elements.last {
        RunStory.isSubject($0.subject, of: peer) && $0.code != nil
      }
      return .init(
        machine: "\(peer).\(machine)", states: changes.suffix(FindingSignature.transitions + 1).map(\.value),
        code: code?.code)
    }
  }
}
