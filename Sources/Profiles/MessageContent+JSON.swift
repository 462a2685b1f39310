internal import VirtualPeer
internal import Vocabulary

/// A message as a JSON object that holds its type beside its fields.
extension MessageContent {
  /// Reads a message; nil for JSON that is none.
  init?(typed json: JSON) {
    guard case .object(let members) = json, let type = json["type"]?.string else { return nil }
    self.init(type, members.filter { $0.key != "type" })
  }

  var typedJSON: JSON { .object([JSON.Member("type", .string(type))] + fields) }
}
