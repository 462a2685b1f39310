internal import Formats
internal import Vocabulary

/// The form of a call's signals on the wire: a `message` stanza of type `headline`, which a server does not keep for users
/// that are offline, with the content in `extraParams`.
enum SignalStanza {
  private static let module = "WebRTCVideoChat"
  /// The attributes that name users, and the fields of their names.
  private static let addresses = ["to", "from"]
  private static let lists = ["opponentsIDs": "opponentID", "iceCandidates": "iceCandidate"]
  private static let integers = ["callType", "sdpMLineIndex"]

  /// Returns the signal of a stanza; nil if it is another one.
  static func content(of stanza: XMLElement) -> MessageContent? {
    guard stanza.name == "message", let parameters = stanza.first("extraParams", XMPP.stanzas),
      parameters.first("moduleIdentifier", XMPP.stanzas)?.text == module,
      let type = parameters.first("signalType", XMPP.stanzas)?.text
    else { return nil }
    var content = MessageContent(type)
    for name in addresses {
      guard let address = stanza[name] else { continue }
      content[name] = .string(XMPP.user(of: address) ?? address)
    }
    // The addresses are those of the stanza, of which the server has stamped the sender's.
    let others = parameters.elements.filter {
      $0.namespace == XMPP.stanzas && !(addresses + ["moduleIdentifier", "signalType"]).contains($0.name)
    }
    for element in others { content[element.name] = value(of: element) }
    return content
  }

  private static func value(of element: XMLElement) -> JSON {
    if let member = lists[element.name] {
      return .array(element.elements.filter { $0.name == member }.map { value(of: $0) })
    }
    let elements = element.elements
    guard elements.isEmpty else { return .object(elements.map { JSON.Member($0.name, value(of: $0)) }) }
    if element.name == "userInfo" { return .object([]) }
    return integers.contains(element.name)
      ? Int64(element.text).map(JSON.integer) ?? .string(element.text)
      : .string(element.text)
  }

  /// Returns the stanza of a signal. `frame` gives the attributes that the signal has no fields for.
  static func stanza(of content: MessageContent, in frame: XMLElement? = nil) -> XMLElement {
    let named = addresses.compactMap { name in
      content[name]?.string.map { XMLElement.Attribute(name: name, value: address($0, name, frame)) }
    }
    let others =
      frame?.attributes.filter { !addresses.contains($0.name) }
      ?? [XMLElement.Attribute(name: "type", value: "headline")]
    var parameters = [
      XMLElement("moduleIdentifier", XMPP.stanzas, text: module),
      XMLElement("signalType", XMPP.stanzas, text: content.type),
    ]
    for field in content.fields where !addresses.contains(field.key) {
      if let element = element(field.key, field.value) { parameters.append(element) }
    }
    return XMLElement(
      "message", XMPP.stanzas, others + named, [XMLElement("extraParams", XMPP.stanzas, [], parameters)])
  }

  /// A user that the frame has already keeps its full address.
  private static func address(_ user: String, _ attribute: String, _ frame: XMLElement?) -> String {
    guard let address = frame?[attribute], (XMPP.user(of: address) ?? address) == user else {
      return XMPP.address(of: user)
    }
    return address
  }

  /// Returns nil for a key that is no name of an element.
  private static func element(_ name: String, _ value: JSON) -> XMLElement? {
    guard isName(name) else { return nil }
    switch value {
    case .array(let values):
      let member = lists[name] ?? "item"
      return XMLElement(name, XMPP.stanzas, [], values.compactMap { element(member, $0) })
    case .object(let members):
      return XMLElement(name, XMPP.stanzas, [], members.compactMap { element($0.key, $0.value) })
    case .string(let text): return XMLElement(name, XMPP.stanzas, text: text)
    case .null: return XMLElement(name, XMPP.stanzas)
    case .integer, .number, .bool: return XMLElement(name, XMPP.stanzas, text: value.description)
    }
  }

  private static func isName(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    } && text.first.map { $0.isLetter || $0 == "_" } ?? false
  }
}
