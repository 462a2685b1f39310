/// What scenarios call those whom apps know by other names: users by their ids, servers by what the vocabulary declares.
package struct PeerNames {
  private let peers: [String: String]
  private let servers: [String: String]

  /// - Parameters:
  ///   - userIDs: the user ids of peers, by the peers' names.
  ///   - servers: the names of servers, by those that the vocabulary declares.
  package init(_ userIDs: [String: String] = [:], servers: [String: String] = [:]) {
    peers = Dictionary(grouping: userIDs.keys) { userIDs[$0] ?? $0 }.compactMapValues { $0.count == 1 ? $0[0] : nil }
    self.servers = servers
  }

  /// The only peer with that user id; the id itself where none has it, or more than one.
  package func peer(ofUser id: String) -> String { peers[id] ?? id }

  /// The peer with that user id, or the server of that declared name.
  package func remote(_ name: String) -> String { peers[name] ?? servers[name] ?? name }
}
