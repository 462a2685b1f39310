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

  /// Returns the values at a path of names joined by dots, such as `ice.candidates.candidate`. A list on the way gives
  /// those of all its objects.
  public func values(at path: String) -> [JSON] { JSON.object(fields).values(at: path.split(separator: ".")[...]) }

  /// Replaces each value at a path; nil removes it.
  public mutating func replace(at path: String, with change: (JSON) -> JSON?) {
    if case .object(let members)? = JSON.object(fields).replacing(at: path.split(separator: ".")[...], with: change) {
      fields = members
    }
  }

  /// Damages each value at a path by a different one of the same kind.
  public mutating func damage(_ path: String) {
    replace(at: path) { value in
      switch value {
      case .string(let text): .string(Self.damaged(text))
      case .integer(let number): .integer(~number)
      case .number(let number): .number(-number - 1)
      case .bool(let flag): .bool(!flag)
      case .array, .object, .null: .string("\u{FFFD}")
      }
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

extension JSON {
  fileprivate func values(at names: ArraySlice<Substring>) -> [JSON] {
    guard let name = names.first else { return [self] }
    switch self {
    case .array(let elements): return elements.flatMap { $0.values(at: names) }
    case .object(let members):
      return members.filter { $0.key == name }.flatMap { $0.value.values(at: names.dropFirst()) }
    case .null, .bool, .integer, .number, .string: return []
    }
  }

  fileprivate func replacing(at names: ArraySlice<Substring>, with change: (JSON) -> JSON?) -> JSON? {
    guard let name = names.first else { return change(self) }
    switch self {
    case .array(let elements): return .array(elements.compactMap { $0.replacing(at: names, with: change) })
    case .object(let members):
      return .object(
        members.compactMap { member in
          guard member.key == name else { return member }
          return member.value.replacing(at: names.dropFirst(), with: change).map { Member(member.key, $0) }
        })
    case .null, .bool, .integer, .number, .string: return self
    }
  }
}
