internal import Formats
internal import PeerSession
internal import Statistics

extension StatsReport {
  /// Creates a report from a program's `getStats` answer: objects with W3C members, in the program's order.
  init(peerProtocol stats: JSON?) {
    var entries: [Entry] = []
    if case .object(let objects)? = stats {
      for object in objects {
        guard case .object(let members) = object.value, let type = object.value["type"]?.string else { continue }
        let kind = object.value["kind"]?.string ?? object.value["mediaType"]?.string
        let values = members.compactMap { member in Value(member.value).map { (name: member.key, value: $0) } }
        entries.append(Entry(id: object.key, type: type, kind: kind, members: values))
      }
    }
    self.init(entries: entries)
  }
}

extension StatsReport.Value {
  /// Fails for null, objects and lists: scenarios do not read them.
  init?(_ json: JSON) {
    switch json {
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .real(value)
    case .bool(let value): self = .flag(value)
    case .string(let value): self = .text(value)
    case .null, .array, .object: return nil
    }
  }
}
