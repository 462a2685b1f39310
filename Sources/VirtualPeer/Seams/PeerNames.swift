/// Translates the names that apps use into the names of the scenario: user ids into peers, declared names into servers.
package struct PeerNames {
  private let peers: [String: String]
  private let servers: [String: String]

  /// - Parameters:
  ///   - userIDs: The user ids of the peers, by peer name.
  ///   - servers: The names of the servers, by the names that the vocabulary declares.
  package init(_ userIDs: [String: String] = [:], servers: [String: String] = [:]) {
    peers = Dictionary(grouping: userIDs.keys) { userIDs[$0] ?? $0 }.compactMapValues { $0.count == 1 ? $0[0] : nil }
    self.servers = servers
  }

  /// Returns the only peer with a user id; the id itself if no peer has it, or several.
  package func peer(ofUser id: String) -> String { peers[id] ?? id }

  /// Returns the peer with a user id, or the server with a declared name.
  package func remote(_ name: String) -> String { peers[name] ?? servers[name] ?? name }
}
