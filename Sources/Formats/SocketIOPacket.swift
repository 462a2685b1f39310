/// One Socket.IO v5 packet without attachments, the payload of an Engine.IO message.
package enum SocketIOPacket: Hashable, Sendable {
  case connect(JSON?)
  case disconnect
  case event(name: String, arguments: [JSON], acknowledgement: Int?)
  case acknowledgement(id: Int, arguments: [JSON])
  case connectError(JSON?)

  /// The reason for which a payload is not a supported Socket.IO packet.
  package enum Malformation: Error, Hashable, Sendable {
    case empty, unknownType, badJSON(JSONError), eventWithoutName, acknowledgementWithoutID, badPayload
  }

  package init(parsing text: String) throws(Malformation) {
    guard let type = text.utf8.first else { throw .empty }
    var rest = text.dropFirst()
    if rest.first == "/" {
      let namespace = rest.prefix { $0 != "," }
      rest = rest.dropFirst(namespace.count + 1)
    }
    // Only events and acknowledgements have an id: digits anywhere else begin the payload.
    let digits = type == UInt8(ascii: "2") || type == UInt8(ascii: "3") ? rest.prefix { $0.isASCII && $0.isNumber } : ""
    let id = Int(digits)
    guard digits.isEmpty || id != nil else { throw .badPayload }
    rest = rest.dropFirst(digits.count)
    let body = try Self.json(rest)
    switch type {
    case UInt8(ascii: "0"): self = .connect(body)
    case UInt8(ascii: "1"): self = .disconnect
    case UInt8(ascii: "2"):
      guard let elements = body?.array else { throw .badPayload }
      guard let name = elements.first?.string else { throw .eventWithoutName }
      self = .event(name: name, arguments: Array(elements.dropFirst()), acknowledgement: id)
    case UInt8(ascii: "3"):
      guard let id else { throw .acknowledgementWithoutID }
      guard let elements = body?.array else { throw .badPayload }
      self = .acknowledgement(id: id, arguments: elements)
    case UInt8(ascii: "4"): self = .connectError(body)
    default: throw .unknownType
    }
  }

  private static func json(_ text: Substring) throws(Malformation) -> JSON? {
    guard !text.isEmpty else { return nil }
    do {
      return try JSON(parsing: text.utf8)
    } catch {
      throw .badJSON(error)
    }
  }

  package var text: String {
    switch self {
    case .connect(let body): "0" + (body.map(\.description) ?? "")
    case .disconnect: "1"
    case .event(let name, let arguments, let id):
      "2" + (id.map(String.init) ?? "") + JSON.array([.string(name)] + arguments).description
    case .acknowledgement(let id, let arguments): "3\(id)" + JSON.array(arguments).description
    case .connectError(let body): "4" + (body.map(\.description) ?? "")
    }
  }
}
