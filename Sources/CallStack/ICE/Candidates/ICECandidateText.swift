internal import CallCore

// The SDP `candidate` attribute (RFC 8839 section 5.1):
//   candidate:<foundation> <component> <transport> <priority> <address> <port> typ <type> [raddr <a>] [rport <p>]
//     *(<extension name> <extension value>)
extension ICECandidate: LosslessStringConvertible {
  /// Parses the attribute with or without `a=` and `candidate:`. Keeps unknown extensions; returns nil for an unknown
  /// type.
  package init?(_ text: String) {
    var rest = Substring(text)
    if rest.hasPrefix("a=") { rest = rest.dropFirst(2) }
    if rest.hasPrefix("candidate:") { rest = rest.dropFirst(10) }
    let words = rest.split(whereSeparator: { $0 == " " || $0 == "\r" || $0 == "\n" })
    guard words.count >= 8, words.count % 2 == 0, Self.isFoundation(words[0]),
      let component = Self.number(words[1], UInt16.self), (1...256).contains(component),
      let priority = Self.number(words[3], UInt32.self), let port = Self.number(words[5], UInt16.self),
      let address = Address(words[4]), words[6].lowercased() == "typ",
      let type = ICECandidateType(rawValue: words[7].lowercased())
    else { return nil }
    self.init(
      foundation: String(words[0]), component: Int(component), transport: Transport(words[2]), priority: priority,
      address: address, port: port, type: type)
    for index in stride(from: 8, to: words.count, by: 2) {
      guard readExtension(named: words[index], words[index + 1]) else { return nil }
    }
  }

  private mutating func readExtension(named name: Substring, _ value: Substring) -> Bool {
    switch name {
    case "raddr": relatedAddress = Address(value)
    case "rport": relatedPort = Self.number(value, UInt16.self)
    case "tcptype": tcpType = String(value)
    case "generation": generation = Self.number(value, UInt32.self).map(Int.init)
    case "ufrag": ufrag = String(value)
    case "network-id": networkID = Self.number(value, UInt32.self).map(Int.init)
    case "network-cost": networkCost = Self.number(value, UInt32.self).map(Int.init)
    default:
      extensions.append(Extension(name: String(name), value: String(value)))
      return true
    }
    // Only the related address and port belong to the grammar itself; another extension with an invalid value is
    // ignored.
    return name == "raddr" ? relatedAddress != nil : name == "rport" ? relatedPort != nil : true
  }

  /// The text of the attribute, without `a=`.
  package var description: String {
    var text = "candidate:\(foundation) \(component) \(transport) \(priority) \(address) \(port) typ \(type.rawValue)"
    if let relatedAddress { text += " raddr \(relatedAddress)" }
    if let relatedPort { text += " rport \(relatedPort)" }
    if let tcpType { text += " tcptype \(tcpType)" }
    if let generation { text += " generation \(generation)" }
    if let ufrag { text += " ufrag \(ufrag)" }
    if let networkID { text += " network-id \(networkID)" }
    if let networkCost { text += " network-cost \(networkCost)" }
    for pair in extensions { text += " \(pair.name) \(pair.value)" }
    return text
  }

  private static func isFoundation(_ word: Substring) -> Bool {
    (1...32).contains(word.utf8.count) && word.utf8.allSatisfy(\.isICECharacter)
  }

  private static func number<T: FixedWidthInteger>(_ word: Substring, _: T.Type) -> T? {
    guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return T(word)
  }
}

extension ICECandidate.Transport: CustomStringConvertible {
  init(_ word: Substring) {
    switch word.lowercased() {
    case "udp": self = .udp
    case "tcp": self = .tcp
    default: self = .other(String(word))
    }
  }

  package var description: String {
    switch self {
    case .udp: "udp"
    case .tcp: "tcp"
    case .other(let token): token
    }
  }
}

extension ICECandidate.Address: CustomStringConvertible {
  /// Parses a numeric address or a host name.
  init?(_ word: Substring) {
    if let address = IPAddress(String(word)) {
      self = .ip(address)
    } else if word.utf8.allSatisfy(Self.isNameCharacter), word.utf8.contains(where: \.isASCIILetter) {
      self = .name(String(word))
    } else {
      return nil
    }
  }

  package var description: String {
    switch self {
    case .ip(let address): "\(address)"
    case .name(let name): name
    }
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "-._".utf8.contains(byte)
  }
}
