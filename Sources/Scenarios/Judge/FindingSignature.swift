internal import ScenarioFormat
internal import Vocabulary

/// The identity of a finding apart from its words: the broken check, and the last states of the machines of the peers
/// concerned.
///
/// Findings with equal signatures are examined together, across seeds and versions: measured values, times and wording
/// are not part of a signature. `#2 | bob.call.state: ringing>connecting>ended (ice-failed)`
public struct FindingSignature: Hashable, Sendable, CustomStringConvertible {
  /// The last states of a peer's main machine.
  package struct Course: Hashable, Sendable {
    /// `bob.call.state`
    var machine: String
    /// The states of the last three transitions, including the one before the first.
    var states: [String]
    /// The newest end code or error code.
    var code: String?

    var text: String { "\(machine): \(states.joined(separator: ">"))" + (code.map { " (\($0))" } ?? "") }
  }

  static let transitions = 3

  /// The signature as text.
  public let text: String
  /// The signature as text.
  public var description: String { text }

  /// Reads a signature that another process wrote.
  package init(text: String) { self.text = text }

  /// Makes a signature.
  ///
  /// - Parameter check: the id of an expectation, the name of an invariant, or the name of another check.
  package init(_ check: String, _ courses: [Course] = []) {
    text = ([check] + courses.map(\.text)).joined(separator: " | ")
  }
}

extension Explanation {
  /// Returns the last states of the peers' main machines; for more than two peers, those of the first two.
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
