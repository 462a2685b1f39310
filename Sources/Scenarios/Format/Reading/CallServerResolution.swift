import Vocabulary

/// Determines the server of a profile that relays a message or has a signalling fault.
struct CallServerResolution {
  enum Choice {
    case server(String)
    /// No peer has a profile, so that no messages exist.
    case nobody
    /// The server is unknown or ambiguous, which was reported.
    case refused
  }

  private let scope: Scope
  private var callServers: [Topology.Server] { scope.servers.filter { $0.profile != nil } }

  init(_ scope: Scope) { self.scope = scope }

  /// Returns the named server, or the only one that fits the peers and the message.
  ///
  /// - Parameters:
  ///   - written: the name in the file, or nil.
  ///   - peers: the peers that send or receive the message.
  ///   - what: the subject of the diagnostic.
  func choice(
    _ written: String?, of peers: [String], message: String?, what: String, at span: SourceSpan,
    _ reading: inout Reading
  ) -> Choice {
    let names = callServers.map(\.name)
    if let written {
      guard names.contains(written) else {
        let hint = Suggestion.hint(for: written, among: names, noun: "servers of profiles")
        let message = "\(what) happens at a server of a profile, and '\(written)' is none"
        reading.report(.wrongServerKind, message, at: span, hint: hint)
        return .refused
      }
      return .server(written)
    }
    let profiles = peers.compactMap { scope.peer($0)?.profile }
    var candidates = callServers.filter { profiles.isEmpty || profiles.contains($0.profile?.value ?? "") }
    if let message {
      let declaring = candidates.filter { server in
        scope.peers.contains { peer in
          peer.profile == server.profile?.value && peer.vocabulary.profile?.message(message) != nil
        }
      }
      if !declaring.isEmpty { candidates = declaring }
    }
    guard candidates.count > 1 else { return candidates.first.map { .server($0.name) } ?? .nobody }
    let choices = candidates.map { "server: \($0.name)" }.joined(separator: ", or ")
    reading.report(
      .ambiguousName, "\(what) could happen at any of \(candidates.count) servers", at: span, hint: "write \(choices)")
    return .refused
  }
}
