import CallCore
import Vocabulary

/// Checks of data channels, across the peers that share them, and of what the timeline does with them.
enum DataChannelChecks {
  /// Makes the values of all channels readable at every peer: the channels of one are announced to the other.
  static func declare(_ scenario: Scenario, _ reading: inout Reading) {
    for index in reading.scope.peers.indices {
      reading.scope.peers[index].vocabulary.dataChannels = scenario.dataChannelLabels
      reading.scope.peers[index].opensByAction =
        scenario.peer(reading.scope.peers[index].name)?.dataChannels.filter { $0.opening == .byAction }.map(\.label)
        ?? []
    }
  }

  /// - Precondition: the timeline has been read.
  static func check(_ scenario: Scenario, _ reading: inout Reading) {
    for peer in scenario.peers {
      if let channel = peer.dataChannels.first, !peer.hasCallStack {
        let message = "\(peer.name) has no call stack, and so no data channels"
        reading.report(
          .conflictingKeys, message, at: channel.span, hint: "leave data_channels out, or give it a profile")
        continue
      }
      checkIDs(of: peer, &reading)
      for channel in peer.dataChannels { check(channel, of: peer, scenario, &reading) }
    }
    checkNegotiation(scenario, &reading)
    checkOpening(scenario, &reading)
  }

  private static func checkIDs(of peer: Scenario.Peer, _ reading: inout Reading) {
    for (index, channel) in peer.dataChannels.enumerated() {
      guard let other = peer.dataChannels[..<index].first(where: { $0.id != nil && $0.id == channel.id }) else {
        continue
      }
      let message = "'\(channel.label)' has the id of '\(other.label)': two channels cannot share a stream"
      reading.report(.conflictingKeys, message, at: channel.span, hint: "give it another id")
    }
  }

  /// Compares a channel with that of the same label at an earlier peer: one side announces it, or both agree on it.
  private static func check(
    _ channel: Scenario.DataChannel, of peer: Scenario.Peer, _ scenario: Scenario, _ reading: inout Reading
  ) {
    func refuse(_ message: String, _ hint: String) {
      reading.report(.conflictingKeys, message, at: channel.span, hint: hint)
    }
    let others = scenario.peers.filter { other in
      other.name != peer.name && other.dataChannels.contains { $0.label == channel.label }
    }
    if channel.negotiated, others.isEmpty {
      refuse(
        "nobody else declares '\(channel.label)', and a negotiated channel is not announced",
        "declare it at the other peer, with the same id")
    }
    let place = scenario.peers.firstIndex { $0.name == peer.name } ?? 0
    guard
      let earlier = scenario.peers[..<place].first(where: { $0.dataChannels.contains { $0.label == channel.label } }),
      let other = earlier.dataChannels.first(where: { $0.label == channel.label })
    else { return }
    guard channel.negotiated || other.negotiated else {
      return refuse(
        "\(earlier.name) and \(peer.name) both announce '\(channel.label)', and a name is of one channel",
        "leave one out, since the other side is told of it, or make both negotiated with one id")
    }
    var same = other
    (same.opening, same.span) = (channel.opening, channel.span)
    guard same != channel else { return }
    refuse(
      "'\(channel.label)' differs from that of \(earlier.name): nobody tells one side what the other chose",
      "give both the same keys")
  }

  /// Reports channels for which no offer has a section: only the first channel of a connection that calls makes one.
  private static func checkNegotiation(_ scenario: Scenario, _ reading: inout Reading) {
    guard let channel = scenario.peers.lazy.flatMap(\.dataChannels).first else { return }
    guard scenario.peers.contains(where: { $0.dataChannels.contains { $0.opening == .withCall } }) else {
      let message = "no data channel opens with a call, so no description has a section for them (RFC 8841)"
      return reading.report(
        .ineffective, message, at: channel.span, hint: "leave opens: by-action out at one channel at least")
    }
    let callers = callers(in: scenario, reading)
    let offering = scenario.peers.filter { peer in peer.dataChannels.contains { $0.opening == .withCall } }
    guard !callers.isEmpty, !offering.contains(where: { callers.contains($0.name) }) else { return }
    let message = "no peer that calls has a data channel: its offer has no section for them, and none opens"
    reading.report(
      .ineffective, message, at: channel.span, hint: "declare data_channels of \(callers.joined(separator: " or "))")
  }

  /// The peers that may offer: those that call, and all that join a room.
  private static func callers(in scenario: Scenario, _ reading: Reading) -> [String] {
    scenario.timeline.compactMap { entry -> String? in
      guard case .action(let peer, let name, _) = entry.effect else { return nil }
      switch reading.scope.peer(peer)?.vocabulary.action(name)?.role {
      case .begin, .join: return peer
      default: return nil
      }
    }.inOrderOfAppearance
  }

  /// Reports channels that open by an action which never comes.
  private static func checkOpening(_ scenario: Scenario, _ reading: inout Reading) {
    for peer in scenario.peers {
      for channel in peer.dataChannels where channel.opening == .byAction {
        let isOpened = scenario.timeline.contains { entry in
          guard case .action(peer.name, DataChannelVocabulary.open.name, let arguments) = entry.effect else {
            return false
          }
          return arguments.text("channel") == channel.label
        }
        guard !isOpened else { continue }
        let problem = "'\(channel.label)' never opens: nothing does \(peer.name).\(DataChannelVocabulary.open.name)"
        reading.note(fault: problem, key: channel.label, at: channel.span)
      }
    }
  }

  // MARK: Actions

  /// Checks the arguments of an action on a data channel.
  static func check(
    _ arguments: Arguments, of action: String, by peer: Scope.PeerNames, at span: SourceSpan, _ reading: inout Reading
  ) -> Bool {
    let known = peer.vocabulary.dataChannels
    let label = arguments.text("channel") ?? ""
    guard known.contains(label) else {
      let place = arguments.span(of: "channel") ?? span
      reading.reportUnknown(.unknownName, "data channel", label, among: known, at: place, explain: "data_channels")
      return false
    }
    switch action {
    case DataChannelVocabulary.open.name where !peer.opensByAction.contains(label):
      let message = "\(peer.name) does not open '\(label)' by an action"
      let hint = "declare it at \(peer.name) with opens: by-action"
      reading.report(.conflictingKeys, message, at: arguments.span(of: "channel") ?? span, hint: hint)
      return false
    case DataChannelVocabulary.send.name: return checkMessages(arguments, at: span, &reading)
    default: return true
    }
  }

  private static func checkMessages(_ arguments: Arguments, at span: SourceSpan, _ reading: inout Reading) -> Bool {
    func refuse(_ code: DiagnosticCode, _ key: String?, _ message: String, _ hint: String?) -> Bool {
      reading.report(code, message, at: key.flatMap { arguments.span(of: $0) } ?? span, hint: hint)
      return false
    }
    switch (arguments["text"], arguments["bytes"]) {
    case (nil, nil):
      return refuse(.missingKey, nil, "send-data says nothing to send", "add text: hello, or bytes: 100B")
    case (_?, _?):
      return refuse(.conflictingKeys, "bytes", "'text' and 'bytes' exclude each other", "leave one of them out")
    case (nil, .byteSize(let size)?) where size > 262_144:
      return refuse(.outOfRange, "bytes", "a message has 262144 bytes at most, which both sides accept", nil)
    case (.text(let text)?, nil) where text.utf8.count > 1_000:
      return refuse(.outOfRange, "text", "a text has 1000 bytes at most", "write bytes: for a large message")
    default: break
    }
    var count = 1
    if case .count(let messages)? = arguments["messages"] { count = messages }
    guard (1...100_000).contains(count) else {
      return refuse(.outOfRange, "messages", "1 to 100000 messages are sent, not \(count)", nil)
    }
    guard case .duration(let interval)? = arguments["interval"] else { return true }
    guard count > 1 else {
      return refuse(
        .conflictingKeys, "interval", "'interval' is the time between messages, and there is one", "add messages:")
    }
    guard interval >= .milliseconds(1) else {
      return refuse(
        .outOfRange, "interval", "messages are sent once in a millisecond at most", "leave it out to send all at once")
    }
    return true
  }
}
