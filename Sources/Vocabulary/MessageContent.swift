public import Formats

/// The content of a signalling message, without its frame: a type and ordered fields.
public struct MessageContent: Hashable, Sendable {
  /// The message's type.
  public var type: String
  /// The fields in their order.
  public var fields: [JSON.Member]

  /// Creates a message.
  public init(_ type: String, _ fields: [JSON.Member] = []) {
    self.type = type
    self.fields = fields
  }

  /// The first field of that name. Setting nil removes it; setting an absent field appends it.
  public subscript(name: String) -> JSON? {
    get { fields.first { $0.key == name }?.value }
    set {
      let index = fields.firstIndex { $0.key == name }
      switch (index, newValue) {
      case (let index?, let value?): fields[index] = JSON.Member(name, value)
      case (nil, let value?): fields.append(JSON.Member(name, value))
      case (let index?, nil): fields.remove(at: index)
      case (nil, nil): break
      }
    }
  }

  /// Damages a field by a different value of the same kind, if the field exists.
  public mutating func damage(_ name: String) {
    guard let value = self[name] else { return }
    self[name] =
      switch value {
      case .string(let text): .string(Self.damaged(text))
      case .integer(let number): .integer(~number)
      case .number(let number): .number(-number - 1)
      case .bool(let flag): .bool(!flag)
      case .array, .object, .null: .string("\u{FFFD}")
      }
  }

  /// Returns the text with its middle character replaced.
  public static func damaged(_ text: String) -> String {
    var characters = Array(text)
    if characters.isEmpty { return "\u{FFFD}" }
    characters[characters.count / 2] = "\u{FFFD}"
    return String(characters)
  }
}
