package import CallCore
internal import LibC
package import PeerSession

/// The URI of a STUN or TURN server (RFC 7064, RFC 7065), before its name is resolved.
package struct ICEServerURI: Hashable, Sendable {
  package let text: String
  package let kind: ICEServer.Kind
  package let host: String
  package let port: UInt16
  package let transport: Path.Transport

  /// Parses `stun:host[:port]`, `turn:host[:port][?transport=udp|tcp]` or `turns:host[:port][?transport=tcp]`.
  package init(_ text: String) throws(InvalidURI) {
    self.text = text
    guard let colon = text.firstIndex(of: ":") else {
      throw InvalidURI(uri: text, reason: "a server is written stun:host:port, turn:host:port or turns:host:port")
    }
    let scheme = text[..<colon].lowercased()
    switch scheme {
    case "stun": kind = .stun
    case "turn", "turns": kind = .turn
    default: throw InvalidURI(uri: text, reason: "'\(scheme):' is not supported; stun:, turn: and turns: are")
    }
    let parts = text[text.index(after: colon)...].split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    transport = try Self.transport(parts.count == 2 ? parts[1] : nil, scheme: scheme, uri: text)
    let defaultPort = transport == .tls ? 5_349 : 3_478
    guard let place = HostAndPort(String(parts[0]), defaultPort: defaultPort), place.port > 0 else {
      throw InvalidURI(uri: text, reason: "there must be a host, and the port must be 1 to 65535")
    }
    (host, port) = (place.host, UInt16(place.port))
  }

  private static func transport(
    _ query: Substring?, scheme: String, uri: String
  ) throws(InvalidURI) -> Path.Transport {
    switch (scheme, query?.lowercased()) {
    case ("turns", nil), ("turns", "transport=tcp"): return .tls
    case ("turns", "transport=udp"):
      throw InvalidURI(uri: uri, reason: "turns: over UDP is DTLS, which is not supported; TLS is, with ?transport=tcp")
    case (_, nil), ("turn", "transport=udp"): return .udp
    case ("turn", "transport=tcp"): return .tcp
    default:
      throw InvalidURI(uri: uri, reason: "only turn: and turns: may end in ?transport=udp or ?transport=tcp")
    }
  }

  /// Parses a URI that must name one kind of server.
  package init(_ text: String, kind: ICEServer.Kind) throws(InvalidURI) {
    try self.init(text)
    guard self.kind == kind else { throw InvalidURI(uri: text, reason: "'\(kind):' is wanted here") }
  }

  /// Returns one server for each address of the host.
  package func resolve(as user: TURNUser = TURNUser(username: "", credential: "")) throws(InvalidURI) -> [ICEServer] {
    let (username, credential) = user.credentials
    return try addresses().map {
      ICEServer(
        kind: kind, endpoint: Endpoint($0, port: port), transport: transport,
        host: IPAddress(host) == nil ? host : nil, username: username, credential: credential)
    }
  }

  /// Returns the host's addresses from the system's resolver, which may block. Do not use this during a call.
  private func addresses() throws(InvalidURI) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    guard code == 0 else {
      throw InvalidURI(uri: text, reason: "'\(host)' has no address: \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(list) }
    var found: [IPAddress] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ai_next
      guard let address = entry.ai_addr, let endpoint = SocketAddress.endpoint(at: address) else { continue }
      if !found.contains(endpoint.address) { found.append(endpoint.address) }
    }
    return found
  }
}

/// A server URI that cannot be used.
package struct InvalidURI: Error, Hashable, CustomStringConvertible {
  package let uri: String
  package let reason: String
  package var description: String { "\(uri): \(reason)" }
}
