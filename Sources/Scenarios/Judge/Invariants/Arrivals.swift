internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// One message of signalling that has reached a peer's device, as the harness knows it: from its fields at the server,
/// whatever the app says of it.
struct ArrivedMessage {
  let type: String
  /// The user id of the sender; empty if the message has none.
  let sender: String
  /// The id of the call; empty if the message has none.
  let call: String
  /// The fingerprints in its description.
  let fingerprints: [String]
  let role: MessageDeclaration.Role?
  let time: Instant
}

/// Follows the messages from the servers to the devices, and knows which one an app handles at the moment.
final class Arrivals {
  /// The messages under way to one peer, and the one that it handles.
  private final class Lane {
    /// By frame.
    var underway: [UInt64: ArrivedMessage] = [:]
    var current: ArrivedMessage?
    var listeners: [(ArrivedMessage) -> Void] = []
  }

  private var lanes: [String: Lane] = [:]

  init(_ context: MonitorContext) {
    let (watch, scenario) = (context.watch, context.scenario)
    var byUser: [String: (lane: Lane, messages: [MessageDeclaration])] = [:]
    for peer in scenario.peers.map(\.name) {
      guard let vocabulary = context.vocabulary(of: peer) else { continue }
      let lane = Lane()
      lanes[peer] = lane
      byUser[scenario.userID(of: peer)] = (lane, vocabulary.messages)
      watch.listen(to: HarnessEvents.frameArrived, of: peer) { [unowned watch] _, frame in
        guard let message = lane.underway.removeValue(forKey: frame) else { return }
        lane.current = message
        for listener in lane.listeners { listener(message) }
        watch.afterEvent { lane.current = nil }
      }
    }
    watch.listen(to: HarnessEvents.messageForwarded) { record, type, sender, user, call, fingerprints, frame in
      guard let (lane, messages) = byUser[user] else { return }
      let message = ArrivedMessage(
        type: type, sender: sender, call: call, fingerprints: fingerprints.split(separator: ",").map(String.init),
        role: messages.first { $0.name == type }?.role, time: record.time)
      lane.underway[frame] = message
    }
  }

  /// Returns the message that a peer's app handles in this event; nil if it handles none.
  func current(of peer: String) -> ArrivedMessage? { lanes[peer]?.current }

  /// Calls `listener` for each message, before the app gets it.
  func listen(of peer: String, _ listener: @escaping (ArrivedMessage) -> Void) {
    lanes[peer]?.listeners.append(listener)
  }
}
