internal import CallCore
internal import Digests
public import VirtualPeer
public import Vocabulary

/// The chat server of ConnectyCube: XMPP over WebSocket, passing headline messages between users that are connected.
///
/// A user is bound to the newest connection. Storage of messages, rosters and presence of others are not modelled.
public final class ConnectyCubeServer: CallServer {
  private final class Client {
    let socket: SignallingSocket
    /// The authenticated user, before and after the resource is bound.
    var user: String?
    /// The full address; nil before a resource is bound.
    var address: String?
    /// Whether the stream was opened, since the login once more.
    var isOpen = false
    var isBound: Bool { address != nil }
    var loginTimer: PeerTimer?

    init(socket: SignallingSocket) { self.socket = socket }

    func send(_ element: XMLElement) { socket.send(element.description) }
  }

  /// The time within which a client must bind a resource, or it is closed.
  static let loginTimeout = Interval.seconds(30)
  /// The largest stanza in bytes (RFC 6120 section 13.12 asks for at least 10,000).
  static let stanzaLimit = 262_144

  private let environment: ServerEnvironment
  private var clients: [Client] = []
  private var connectionCount = 0
  /// The sessions and users for which a push was sent.
  private var pushed: Set<[String]> = []

  /// Creates the server; it does nothing before ``start()``.
  public init(environment: ServerEnvironment) { self.environment = environment }

  public static func frame(of text: String) -> SignallingFrame {
    guard let element = try? XMLElement(parsing: text) else { return .transport("malformed") }
    if let content = SignalStanza.content(of: element) { return .message(content) }
    let ping = element.name == "iq" && element.first("ping", XMPP.ping) != nil
    let introduced = element.name == "auth" ? try? user(authenticatedBy: element) : nil
    return .transport(ping ? "ping" : element.name, sender: introduced)
  }

  public static func text(of message: MessageContent, in frame: String?) -> String {
    let stanza = frame.flatMap { try? XMLElement(parsing: $0) }
    return SignalStanza.stanza(of: message, in: stanza).description
  }

  public func start() { environment.listen(subprotocol: XMPP.subprotocol) { [weak self] in self?.accept($0) } }

  public func inject(_ message: MessageContent, from: String, to: String) {
    deliver(SignallingMessage(type: message.type, from: from, to: to, text: Self.text(of: message, in: nil)))
  }

  public func shutDown() { for client in clients { drop(client) } }

  private func accept(_ socket: SignallingSocket) {
    let client = Client(socket: socket)
    clients.append(client)
    client.loginTimer = environment.clock.schedule(after: Self.loginTimeout) { [weak self, weak client] in
      if let client { self?.end(client, "connection-timeout") }
    }
    socket.onText = { [weak self, weak client] text in if let client { self?.received(text, from: client) } }
    socket.onClose = { [weak self, weak client] in if let client { self?.forget(client) } }
  }

  private func forget(_ client: Client) {
    client.loginTimer?.cancel()
    clients.removeAll { $0 === client }
  }

  private func drop(_ client: Client) {
    client.socket.drop()
    forget(client)
  }

  /// Ends a stream with an error (RFC 6120 section 4.9), which comes after the opening of the stream (RFC 7395
  /// section 3.5).
  private func end(_ client: Client, _ condition: String) {
    if !client.isOpen { open(client) }
    client.send(XMPP.streamError(condition))
    close(client)
  }

  /// Closes the stream, or answers that the client closed it, then closes the connection (RFC 7395 section 3.6).
  private func close(_ client: Client) {
    client.send(XMLElement("close", XMPP.framing))
    client.loginTimer?.cancel()
    client.socket.onText = nil
    client.socket.close()
  }

  // MARK: Streams

  private func received(_ text: String, from client: Client) {
    guard text.utf8.count <= Self.stanzaLimit else {
      environment.malformed("stanza of \(text.utf8.count) bytes")
      return end(client, "policy-violation")
    }
    var element: XMLElement
    do throws(XMLProblem) {
      element = try XMLElement(parsing: text)
    } catch {
      environment.malformed("XML: \(error.words)")
      return end(client, error.condition)
    }
    // A client cannot speak for another one (RFC 6120 section 8.1.2.1).
    element.attributes.removeAll { $0.name == "from" }
    switch (element.name, element.namespace) {
    case ("open", XMPP.framing): opened(client, element)
    case ("close", XMPP.framing): close(client)
    case ("auth", XMPP.sasl) where client.user == nil: authenticate(client, element)
    case ("iq", XMPP.stanzas) where client.user != nil: query(element, from: client)
    case ("presence", XMPP.stanzas) where client.isBound: break
    case ("message", XMPP.stanzas) where client.isBound: route(element, from: client)
    case ("iq", XMPP.stanzas), ("presence", XMPP.stanzas), ("message", XMPP.stanzas):
      environment.malformed("\(element.name) before login")
      end(client, "not-authorized")
    case ("iq", _), ("presence", _), ("message", _):
      environment.malformed("\(element.name) of namespace '\(element.namespace)'")
      end(client, "invalid-namespace")
    default:
      environment.malformed("element \(element.name)")
      end(client, "unsupported-stanza-type")
    }
  }

  private func open(_ client: Client) {
    connectionCount += 1
    client.isOpen = true
    let id = XMLElement.Attribute(name: "id", value: "stream-\(connectionCount)")
    client.send(XMPP.open([.init(name: "from", value: XMPP.domain), id]))
  }

  private func opened(_ client: Client, _ stream: XMLElement) {
    open(client)
    if let host = stream["to"], host != XMPP.domain {
      environment.malformed("stream to \(host)")
      return end(client, "host-unknown")
    }
    let feature =
      client.user == nil
      ? XMLElement("mechanisms", XMPP.sasl, [], [XMLElement("mechanism", XMPP.sasl, text: "PLAIN")])
      : XMLElement("bind", XMPP.bind)
    client.send(XMLElement("features", XMPP.streams, [], [feature]))
  }

  /// Returns the user whom SASL PLAIN (RFC 4616) names.
  private static func user(authenticatedBy auth: XMLElement) throws(SASLFailure) -> String {
    guard auth["mechanism"] == "PLAIN" else { throw .invalidMechanism }
    // RFC 6120 section 6.4.2: an empty response is written so.
    guard let bytes = auth.text == "=" ? [] : Base64.decode(auth.text) else { throw .incorrectEncoding }
    let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let user = String(validating: parts[1], as: UTF8.self), !user.isEmpty else {
      throw .malformedRequest
    }
    guard parts[0].isEmpty || parts[0].elementsEqual(XMPP.address(of: user).utf8) else { throw .invalidAuthzid }
    return user
  }

  /// Passwords are not checked.
  private func authenticate(_ client: Client, _ auth: XMLElement) {
    do throws(SASLFailure) {
      client.user = try Self.user(authenticatedBy: auth)
      // A new stream begins (RFC 6120 section 6.4.6).
      client.isOpen = false
      client.send(XMLElement("success", XMPP.sasl))
    } catch {
      environment.malformed("SASL message: \(error.rawValue)")
      client.send(XMLElement("failure", XMPP.sasl, [], [XMLElement(error.rawValue, XMPP.sasl)]))
    }
  }

  private func query(_ iq: XMLElement, from client: Client) {
    guard let id = iq["id"], let user = client.user else {
      environment.malformed("iq without id")
      return client.send(XMPP.error("bad-request", type: "modify", answering: iq))
    }
    switch iq["type"] {
    case "set" where iq.first("bind", XMPP.bind) != nil: bind(client, user, id: id, iq)
    case "get" where iq.first("ping", XMPP.ping) != nil: client.send(XMPP.result(of: iq))
    case "get", "set": client.send(XMPP.error("service-unavailable", type: "cancel", answering: iq))
    case "result", "error": break
    default:
      environment.malformed("iq of no type")
      client.send(XMPP.error("bad-request", type: "modify", answering: iq))
    }
  }

  private func bind(_ client: Client, _ user: String, id: String, _ iq: XMLElement) {
    for other in clients where other !== client && other.isBound && other.user == user { end(other, "conflict") }
    client.socket.user = user
    client.loginTimer?.cancel()
    let resource = iq.first("bind", XMPP.bind)?.first("resource", XMPP.bind)?.text ?? ""
    let address = "\(XMPP.address(of: user))/\(resource.isEmpty ? id : resource)"
    client.address = address
    let jid = XMLElement("jid", XMPP.bind, text: address)
    client.send(XMPP.result(of: iq, [XMLElement("bind", XMPP.bind, [], [jid])]))
  }

  // MARK: Messages

  private func route(_ stanza: XMLElement, from client: Client) {
    // An error is not answered by another (RFC 6120 section 8.3.1).
    guard stanza["type"] != "error" else { return }
    guard let sender = client.user, let address = client.address, let recipient = stanza["to"].flatMap(XMPP.user(of:))
    else {
      environment.malformed("message to no user")
      return client.send(XMPP.error("jid-malformed", type: "modify", answering: stanza))
    }
    guard let content = SignalStanza.content(of: stanza), stanza["type"] == "headline" else {
      environment.malformed("message that is no headline of a call")
      return client.send(XMPP.error("service-unavailable", type: "cancel", answering: stanza))
    }
    var stamped = stanza
    stamped.attributes.append(.init(name: "from", value: address))
    deliver(SignallingMessage(type: content.type, from: sender, to: recipient, text: stamped.description))
    push(content, from: sender, to: recipient)
  }

  /// Sends the push of a call with its first signal. In the product the caller's app asks for it by another request:
  /// that is not modelled.
  private func push(_ content: MessageContent, from sender: String, to recipient: String) {
    guard content.type == CallSignal.Kind.call.rawValue, let id = content["sessionID"]?.string,
      content["callerID"]?.string == sender, pushed.insert([id, recipient]).inserted
    else { return }
    environment.push(["sessionID": id, "callerID": sender], to: recipient)
  }

  /// A headline for a user who is not connected is dropped (RFC 6121 section 8.5.2.2).
  private func deliver(_ message: SignallingMessage) {
    guard let client = clients.last(where: { $0.isBound && $0.user == message.to }) else {
      return environment.undeliverable(message)
    }
    client.socket.send(message.text)
  }
}

/// The reasons for which SASL fails (RFC 6120 section 6.5).
private enum SASLFailure: String, Error {
  case incorrectEncoding = "incorrect-encoding"
  case invalidAuthzid = "invalid-authzid"
  case invalidMechanism = "invalid-mechanism"
  case malformedRequest = "malformed-request"
}

extension XMLProblem {
  /// The condition of the stream error (RFC 6120 section 4.9.3).
  fileprivate var condition: String {
    switch self {
    case .notWellFormed: "not-well-formed"
    case .restricted: "restricted-xml"
    case .tooDeep: "policy-violation"
    }
  }

  fileprivate var words: String {
    switch self {
    case .notWellFormed(let reason): reason
    case .restricted: "comment, processing instruction or document type"
    case .tooDeep: "deeper than \(XMLElement.depthLimit) elements"
    }
  }
}
