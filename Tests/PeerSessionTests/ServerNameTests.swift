import CallCore
import PeerSession
import STUN
import StackWorlds
import Testing

/// Whom a TURN server over TLS must prove to be (RFC 8656 section 3.1, RFC 8489 section 10).
@Suite struct ServerNameTests {
  /// A session that has asked a server over TLS, and the path that it asked on.
  private func asking(host: String?) throws -> (pair: SessionPair, request: SessionPair.Sent) {
    var server = SessionPair.turn
    server.transport = .tls
    server.host = host
    let pair = SessionPair { $0.iceServers = [server] }
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.drain(pair.a)
    return (pair, try #require(pair.sent.last { $0.path.transport == .tls }))
  }

  @Test(arguments: [("turn.example.org", "turn.example.org"), (nil, "203.0.113.1")] as [(String?, String)])
  func `a server must be the host that its URI names, or the address without a name`(
    host: String?, name: String
  ) throws {
    let (pair, request) = try asking(host: host)
    #expect(request.path.remote == SessionPair.turnServer)
    let expected = pair.a.session.serverName(on: request.path)
    #expect(expected == name)
  }

  @Test(arguments: [("other.example.org", "other.example.org"), (nil, "turn.example.org")] as [(String?, String)])
  func `a server that another has sent us on to must be the domain that this one named, or the same host`(
    domain: String?, name: String
  ) throws {
    let (pair, request) = try asking(host: "turn.example.org")
    let id = try STUNMessage(parsing: request.bytes.span.bytes).transactionID
    let alternate = Endpoint(IPAddress("203.0.113.99")!, port: 5_349)
    var redirection = STUNMessageBuilder(.errorResponse, .allocate, id)
    redirection.append(.errorCode, .tryAlternate)
    redirection.append(.alternateServer, alternate)
    if let domain { redirection.append(.alternateDomain, domain) }
    pair.a.session.receive(redirection.bytes.span.bytes, on: request.path, at: pair.now)
    pair.drain(pair.a)
    let second = try #require(pair.sent.last)
    #expect(second.path.remote == alternate && second.path.transport == .tls)
    let expected = pair.a.session.serverName(on: second.path)
    #expect(expected == name)
  }
}
