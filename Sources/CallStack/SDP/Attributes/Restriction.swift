/// `a=rid` (RFC 8851 section 10): a named stream of a section, with its restrictions.
package struct Restriction: Hashable, Sendable {
  package enum Direction: String, Hashable, Sendable { case send, recv }

  package var id: String
  package var direction: Direction
  /// The allowed payload types; empty for all of the section.
  package var payloadTypes: [UInt8]
  /// The restrictions, such as `max-width` and `max-br`, in order.
  package var parameters: FormatParameters

  package init(
    id: String, direction: Direction, payloadTypes: [UInt8] = [], parameters: FormatParameters = FormatParameters()
  ) {
    self.id = id
    self.direction = direction
    self.payloadTypes = payloadTypes
    self.parameters = parameters
  }

  init?(_ text: String) {
    let fields = text.fields(maximum: 3)
    guard fields.count >= 2, fields[0].isRestrictionID, let direction = Direction(rawValue: String(fields[1])) else {
      return nil
    }
    self.init(id: String(fields[0]), direction: direction)
    guard fields.count == 3 else { return }
    parameters = FormatParameters(fields[2])
    guard let list = parameters["pt"] else { return }
    for format in list.fields(",") {
      guard let number = format.number(UInt8.self), number < 128 else { return nil }
      payloadTypes.append(number)
    }
    guard !payloadTypes.isEmpty else { return nil }
    parameters["pt"] = nil
  }

  var text: String {
    let formats = payloadTypes.isEmpty ? [] : ["pt=" + payloadTypes.map(String.init).joined(separator: ",")]
    let rest = (formats + (parameters.isEmpty ? [] : [parameters.text])).joined(separator: ";")
    return "\(id) \(direction.rawValue)" + (rest.isEmpty ? "" : " \(rest)")
  }
}

extension StringProtocol {
  /// Whether the text is a `rid-id` of RFC 8851 that fits into the header extension of RFC 8852.
  package var isRestrictionID: Bool {
    (1...255).contains(utf8.count)
      && utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D || $0 == 0x5F }
  }
}
