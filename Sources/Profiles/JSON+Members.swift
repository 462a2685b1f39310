internal import VirtualPeer

extension JSON {
  /// The members that have a value.
  static func members(_ members: [(String, JSON?)]) -> [Member] {
    members.compactMap { name, value in value.map { Member(name, $0) } }
  }

  /// The flag, or nil if this is another value.
  var flag: Bool? { if case .bool(let value) = self { value } else { nil } }
}
