import Vocabulary

extension Scope {
  /// Returns the names of the connections that a peer or server may have at a time; nil for a single unnamed one.
  func connectionNames(of owner: PeerNames) -> [String]? {
    let naming = owner.vocabulary.isServer ? .peers : owner.vocabulary.profile?.connections ?? .single
    switch naming {
    case .single: return nil
    case .named(let names): return names
    case .peers:
      let profile = owner.vocabulary.isServer ? servers.first { $0.name == owner.name }?.profile?.value : owner.profile
      return remoteNames(of: owner.name, profile)
        + (owner.vocabulary.isServer ? [] : connectingServers.filter { $0.profile == profile }.map(\.name))
    }
  }

  /// The other users of a peer's profile, by the names of their peers.
  func remoteNames(of owner: PeerNames) -> [String] { remoteNames(of: owner.name, owner.profile) }

  private func remoteNames(of owner: String, _ profile: String?) -> [String] {
    peers.filter { $0.name != owner && !$0.isPuppet && $0.profile == profile }.map(\.name)
  }

  /// The connections for which `any` and `all` stand: those to other peers, or to servers if there are none to peers.
  /// A service beside the call, such as an echo test, needs its name. Nil for a single connection.
  func quantifiedConnections(of owner: PeerNames) -> [String]? {
    guard let names = connectionNames(of: owner) else { return nil }
    let servers = connectingServers.map(\.name)
    let others = names.filter { !servers.contains($0) }
    return others.isEmpty ? names : others
  }

  /// Returns a peer, or a server that opens peer connections.
  func owner(_ name: String) -> PeerNames? {
    if let peer = peer(name) { return peer }
    guard connectingServers.contains(where: { $0.name == name }) else { return nil }
    return PeerNames(name: name, vocabulary: PeerVocabulary(profile: nil, isServer: true), stack: .real)
  }

  /// The names of peers and servers that have values.
  var owners: [String] { peers.map(\.name) + connectingServers.map(\.name) }

  private var connectingServers: [(name: String, profile: String)] {
    servers.compactMap { server in
      guard let profile = server.profile?.value, case .declared(let kind) = server.kind,
        let vocabulary = peers.lazy.compactMap(\.vocabulary.profile).first(where: { $0.profile == profile }),
        vocabulary.server(kind)?.opensConnections == true
      else { return nil }
      return (server.name, profile)
    }
  }
}

/// The parts of a path: the owner, its connection, and the name of a value, state or event.
struct PathOwner {
  let peer: Scope.PeerNames
  /// The name after `to`.
  let connection: String?
  /// The name of a value, a state or an event.
  let name: String
  /// The offset of the name in the text.
  let start: Int

  /// Splits `alice.to.bob.ice.state`; nil after reporting an unknown peer.
  init?(_ text: String, in node: YAMLNode, from start: Int, _ reading: inout Reading) {
    let dot = text.firstIndex(of: ".") ?? text.endIndex
    let ownerName = String(text[..<dot])
    let span = node.span(ofLetters: start, length: ownerName.unicodeScalars.count)
    guard let peer = reading.scope.owner(ownerName) else {
      reading.reportUnknown(.unknownPeer, "peer", ownerName, among: reading.scope.owners, at: span)
      return nil
    }
    reading.scope.used.insert("peer \(ownerName)")
    self.peer = peer
    var rest = text[dot...].dropFirst()
    if rest.hasPrefix("to."), let end = rest.dropFirst(3).firstIndex(of: ".") {
      connection = String(rest.dropFirst(3)[..<end])
      rest = rest[end...].dropFirst()
    } else {
      connection = nil
    }
    name = String(rest)
    self.start = start + text.unicodeScalars.count - rest.unicodeScalars.count
  }

  /// Returns the trace subject of the name: the peer's, or that of one of its connections; nil after reporting.
  func subject(of name: String, in node: YAMLNode, from start: Int, _ reading: inout Reading) -> String? {
    // The last callback is of the peer, and of each remote user.
    let isOfRemote = peer.vocabulary.isOfRemote(name) && (connection != nil || name != CallbackVocabulary.last)
    let names = isOfRemote ? reading.scope.remoteNames(of: peer) : reading.scope.connectionNames(of: peer)
    let isOfConnection = isOfRemote || CommonVocabulary.isOfConnection(name)
    func report(_ code: DiagnosticCode, _ message: String, hint: String?, _ reading: inout Reading) -> String? {
      let span = node.span(ofLetters: start, length: max(1, self.start - start + self.name.unicodeScalars.count))
      reading.report(code, message, at: span, hint: hint)
      return nil
    }
    guard let names else {
      guard connection != nil else { return peer.name }
      let hint = "write \(peer.name).\(self.name)"
      return report(.unknownConnection, "\(peer.name) has a single connection, without a name", hint: hint, &reading)
    }
    if let connection {
      guard names.contains(connection) else {
        let hint = Suggestion.hint(for: connection, among: names, noun: "there are")
        let message = "\(peer.name) has no connection to '\(YAMLNode.abbreviated(connection))'"
        return report(.unknownConnection, message, hint: hint, &reading)
      }
      guard isOfConnection else {
        let message = "'\(name)' is of \(peer.name), and not of one of its connections"
        return report(.unknownConnection, message, hint: "write \(peer.name).\(self.name)", &reading)
      }
      return ConnectionSubject.name(of: connection, at: peer.name)
    }
    guard isOfConnection else { return peer.name }
    guard names.count == 1 else {
      let choices = names.map { "\(peer.name).to.\($0).\(self.name)" }
      let message =
        names.isEmpty
        ? "\(peer.name) has nobody to connect to"
        : isOfRemote
          ? "'\(name)' is of each user that \(peer.name) knows"
          : "\(peer.name) may have \(names.count) connections at a time"
      let hint = names.isEmpty ? nil : "write \(choices.joined(separator: ", or "))"
      return report(.ambiguousName, message, hint: hint, &reading)
    }
    return ConnectionSubject.name(of: names[0], at: peer.name)
  }
}
