internal import Formats
internal import PeerSession

/// The parameters of a request, or a dictionary in them. As in WebIDL, unknown members are ignored. Null counts as a
/// missing member.
struct PeerDictionary {
  private let owner: String
  private let members: JSON

  /// - Parameter owner: the name of the dictionary, for messages.
  init(_ members: JSON, of owner: String) {
    self.members = members
    self.owner = owner
  }

  subscript(name: String) -> JSON? {
    switch members[name] {
    case nil, .null?: nil
    case let value?: value
    }
  }

  func string(_ name: String) throws(PeerError) -> String {
    guard let value = self[name]?.string else { throw wants(name, "a string") }
    return value
  }

  func optionalString(_ name: String) throws(PeerError) -> String? { self[name] == nil ? nil : try string(name) }

  /// Returns a WebIDL `unsigned short`. Unlike WebIDL, it refuses a number out of range instead of converting it.
  func optionalUnsignedShort(_ name: String) throws(PeerError) -> Int? {
    guard let value = self[name] else { return nil }
    guard let number = value.integer, (0...0xFFFF).contains(number) else {
      throw wants(name, "a whole number of 0 to 65535")
    }
    return Int(number)
  }

  func bool(_ name: String) throws(PeerError) -> Bool {
    guard case .bool(let value)? = self[name] else { throw wants(name, "true or false") }
    return value
  }

  func strings(_ name: String) throws(PeerError) -> [String] {
    if let one = self[name]?.string { return [one] }
    let array = self[name]?.array
    guard let values = array?.compactMap(\.string), values.count == array?.count else {
      throw wants(name, "a string or an array of strings")
    }
    return values
  }

  /// - Parameter owner: the name of the dictionary in messages, if it is not `name`.
  func dictionary(_ name: String, of owner: String? = nil) throws(PeerError) -> PeerDictionary? {
    guard let value = self[name] else { return nil }
    guard value.isObject else { throw wants(name, "an object") }
    return PeerDictionary(value, of: owner ?? name)
  }

  func dictionaries(_ name: String) throws(PeerError) -> [PeerDictionary] {
    guard let value = self[name] else { return [] }
    guard let array = value.array, array.allSatisfy(\.isObject) else { throw wants(name, "an array of objects") }
    return array.enumerated().map { PeerDictionary($1, of: "\(name)[\($0)]") }
  }

  func description() throws(PeerError) -> SessionDescriptionText {
    let type = try string("type")
    guard let kind = SessionDescriptionText.Kind(rawValue: type) else {
      throw PeerError(.typeError, "'\(type)' is not an RTCSdpType")
    }
    return SessionDescriptionText(kind, sdp: kind == .rollback ? "" : try string("sdp"))
  }

  private func wants(_ name: String, _ what: String) -> PeerError {
    PeerError(.typeError, "\(owner) wants '\(name)', \(what)")
  }
}

extension JSON {
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }
}
