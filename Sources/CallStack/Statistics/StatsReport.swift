/// The W3C statistics of a session at one instant, in a stable order.
public struct StatsReport: Sendable {
  /// The value of a statistics member.
  public enum Value: Hashable, Sendable {
    /// A count, a number of bytes or another integer.
    case integer(Int64)
    /// A floating-point number. Times are in seconds, timestamps in milliseconds, as W3C has them.
    case real(Double)
    /// A Boolean value.
    case flag(Bool)
    /// A text, such as an identifier or a state.
    case text(String)
  }

  /// One statistics object (`inbound-rtp`, `candidate-pair`, …) with its members by their W3C names.
  public struct Entry: Sendable {
    /// The identifier of the object, unique in its report.
    public var id: String
    /// The W3C type, such as `inbound-rtp`.
    public var type: String
    /// The kind of media, `audio` or `video`; nil for types without a kind.
    public var kind: String?
    /// The members, by W3C name, in a stable order.
    public var members: [(name: String, value: Value)]

    /// Makes a statistics object.
    public init(id: String, type: String, kind: String? = nil, members: [(name: String, value: Value)]) {
      self.id = id
      self.type = type
      self.kind = kind
      self.members = members
    }

    /// Returns the value of a member, or nil when the object has none of that name.
    public subscript(member: String) -> Value? { members.first { $0.name == member }?.value }
  }

  /// The statistics objects, in a stable order.
  public var entries: [Entry]

  /// Makes a report.
  public init(entries: [Entry]) { self.entries = entries }

  /// Returns the first entry of a type, such as the selected `candidate-pair`.
  public func first(_ type: String, kind: String? = nil) -> Entry? {
    entries.first { $0.type == type && (kind == nil || $0.kind == kind) }
  }
}
