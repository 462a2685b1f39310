/// The W3C statistics of a session at one instant, in a stable order.
public struct StatsReport: Sendable {
  public enum Value: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
    case flag(Bool)
    case text(String)
  }

  /// One statistics object (`inbound-rtp`, `candidate-pair`, …) with its members by their W3C names.
  public struct Entry: Sendable {
    public var id: String
    public var type: String
    /// `audio` or `video` where the type has a kind.
    public var kind: String?
    public var members: [(name: String, value: Value)]

    public init(id: String, type: String, kind: String? = nil, members: [(name: String, value: Value)]) {
      self.id = id
      self.type = type
      self.kind = kind
      self.members = members
    }

    public subscript(member: String) -> Value? { members.first { $0.name == member }?.value }
  }

  public var entries: [Entry]

  public init(entries: [Entry]) { self.entries = entries }

  /// The first entry of a type, such as the selected `candidate-pair`.
  public func first(_ type: String, kind: String? = nil) -> Entry? {
    entries.first { $0.type == type && (kind == nil || $0.kind == kind) }
  }
}
