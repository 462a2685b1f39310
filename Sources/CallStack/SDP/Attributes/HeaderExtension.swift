/// `a=extmap` (RFC 8285 §5): the identifier of an RTP header extension.
package struct HeaderExtension: Hashable, Sendable {
  package var id: UInt16
  /// The direction of the extension, when it differs from that of the media.
  package var direction: MediaDirection?
  package var uri: String
  package var parameters: String?

  package init(id: UInt16, direction: MediaDirection? = nil, uri: String, parameters: String? = nil) {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.parameters = parameters
  }

  init?(_ text: String) {
    let fields = text.fields(maximum: 3)
    guard fields.count >= 2 else { return nil }
    let (number, direction) = fields[0].halves("/")
    guard let id = number.number(UInt16.self), id > 0 else { return nil }
    var read: MediaDirection?
    if let direction {
      guard let known = MediaDirection(rawValue: String(direction)) else { return nil }
      read = known
    }
    self.init(
      id: id, direction: read, uri: String(fields[1]), parameters: fields.count > 2 ? String(fields[2]) : nil)
  }

  var text: String {
    let way = direction.map { "/\($0.rawValue)" } ?? ""
    return "\(id)\(way) \(uri)" + (parameters.map { " \($0)" } ?? "")
  }

  /// The parameters in an answer: audio levels without the flag of voice activity stay without it (RFC 6464 section 4).
  var answeredParameters: String? { parameters == "vad=off" ? parameters : nil }

  /// Whether packets can carry the identifier: 1...14 in one-byte headers, up to 255 in two-byte headers. 4096...4351
  /// only request an identifier (RFC 8285 §7).
  var isUsable: Bool { (1...14).contains(id) || (16...255).contains(id) }
}
