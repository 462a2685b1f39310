internal import CallCore
internal import ScenarioFormat

extension RunStory.Note {
  /// Whether it is a failure, or the end of a call.
  var isTrouble: Bool { kind != PeerConnectionEvents.restart.name }
}

extension Fault {
  /// The kind with its arguments: `link.down alice/wifi`.
  var label: String {
    ([kind.rawValue] + arguments.entries.map { $0.value.value.description }).joined(separator: " ")
  }
}

extension Scenario {
  /// The participants: peers, then servers.
  var participants: [RunStory.Participant] {
    peers.map { peer in
      let role: RunStory.Participant.Role =
        switch peer.stack {
        case .real: .peer
        case .puppet: .puppet
        case .external: .program
        }
      return .init(name: peer.name, role: role)
    } + topology.servers.map { .init(name: $0.name, role: .server) }
  }

  /// Returns the participants that a fault affects: the owner of the link, the peers on the network or behind it, the
  /// server, the peers in its arguments.
  func targets(of fault: Fault) -> [String] {
    let arguments = fault.arguments
    var names = ["peer", "from", "to", "server"].compactMap { arguments.text($0) }
    if let link = arguments.text("link") {
      names += peers.filter { $0.interfaces.contains { $0.link == link } }.map(\.name)
    } else if let network = arguments.text("network") {
      names += peers.filter { peer in
        peer.interfaces.contains { interface in
          interface.network == network
            || topology.network(interface.network).map {
              topology.routers(from: $0).contains { $0.name == network }
            } ?? false
        }
      }.map(\.name)
    }
    return participants.map(\.name).filter(names.contains)
  }

  /// The times that faults of the timeline hold signalling messages.
  var signallingDelays: [StoryMessages.Delay] {
    timeline.compactMap(\.fault).filter { $0.kind == .signalDelay }.map { fault in
      .init(type: fault.arguments.text("message"), by: fault.arguments.duration("by") ?? .zero)
    }
  }
}
