internal import ScenarioFormat
internal import VirtualPeer
internal import Vocabulary

extension World {
  /// The first message of each type to each peer, as raw messages, where servers keep a log. One of the server itself has
  /// the addressee as its sender. What no raw message can have is left out.
  var firstMessages: [RawMessage] {
    callServers.flatMap { server in
      server.firstMessages.compactMap { message in
        guard let content = message.content, let to = peer(ofUser: message.to),
          let from = message.from == nil ? to : peer(ofUser: message.from)
        else { return nil }
        var raw = RawMessage(type: message.type, from: from, to: to)
        raw.server = server.name
        let sender = server.senderField(of: message.type)
        for member in content.fields where member.key != sender {
          let value = Value(member.value) ?? server.text(of: member, in: message.type).map { .text($0) }
          if let value { raw.fields.entries.append((member.key, Located(value))) }
        }
        return raw
      }
    }
  }

  private func peer(ofUser user: String?) -> String? {
    scenario.peers.first { scenario.userID(of: $0.name) == user }?.name
  }
}
