internal import Vocabulary

/// The names of XMPP that the product uses, over WebSocket (RFC 7395): every frame is one element.
enum XMPP {
  /// The subprotocol of WebSocket (RFC 7395 section 3.1).
  static let subprotocol = "xmpp"

  /// The namespaces of RFC 6120, RFC 7395 and XEP-0199.
  static let framing = "urn:ietf:params:xml:ns:xmpp-framing"
  static let streams = "http://etherx.jabber.org/streams"
  static let streamErrors = "urn:ietf:params:xml:ns:xmpp-streams"
  static let stanzas = "jabber:client"
  static let stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas"
  static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
  static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
  static let ping = "urn:xmpp:ping"

  /// The domain of the chat server in the simulation.
  static let domain = "chat.test"
  /// The id of the application, which every address has after the user's.
  static let application = "1"

  /// Returns the bare address of a user.
  static func address(of user: String) -> String { "\(user)-\(application)@\(domain)" }

  /// Returns the user of an address, bare or full; nil if it is none of this application.
  static func user(of address: String) -> String? {
    let bare = address.prefix { $0 != "/" }
    let suffix = "-\(application)@\(domain)"
    guard bare.hasSuffix(suffix), bare.count > suffix.count else { return nil }
    return String(bare.dropLast(suffix.count))
  }

  static func open(_ attributes: [XMLElement.Attribute]) -> XMLElement {
    XMLElement("open", framing, attributes + [.init(name: "version", value: "1.0")])
  }

  static func iq(_ type: String, id: String, _ children: [XMLElement] = []) -> XMLElement {
    XMLElement("iq", stanzas, [.init(name: "type", value: type), .init(name: "id", value: id)], children)
  }

  /// Returns the result of a query (RFC 6120 section 8.2.3).
  static func result(of query: XMLElement, _ children: [XMLElement] = []) -> XMLElement {
    let type = [XMLElement.Attribute(name: "type", value: "result")]
    return XMLElement("iq", stanzas, type + addresses(answering: query), children)
  }

  /// The id of a stanza, and its addresses the other way round (RFC 6120 section 8.1).
  private static func addresses(answering stanza: XMLElement) -> [XMLElement.Attribute] {
    [("id", "id"), ("from", "to"), ("to", "from")].compactMap { name, former in
      stanza[former].map { XMLElement.Attribute(name: name, value: $0) }
    }
  }

  /// Returns the error for a stanza that cannot be processed (RFC 6120 section 8.3).
  static func error(_ condition: String, type: String, answering stanza: XMLElement) -> XMLElement {
    let reason = XMLElement(
      "error", stanzas, [.init(name: "type", value: type)], [XMLElement(condition, stanzaErrors)])
    let type = [XMLElement.Attribute(name: "type", value: "error")]
    return XMLElement(stanza.name, stanzas, type + addresses(answering: stanza), [reason])
  }

  /// Returns the error that ends a stream (RFC 6120 section 4.9).
  static func streamError(_ condition: String) -> XMLElement {
    XMLElement("error", streams, [], [XMLElement(condition, streamErrors)])
  }
}
