internal import CallCore

/// The part of DNS for names in ICE candidates (RFC 6762, draft-ietf-mmusic-mdns-ice-candidates): a query for the
/// addresses of one name, and the addresses in received messages.
enum MulticastDNSMessage {
  enum RecordType {
    static let a: UInt16 = 1
    static let aaaa: UInt16 = 28
    static let nsec: UInt16 = 47
    static let any: UInt16 = 255
  }

  static let port: UInt16 = 5_353

  /// The limit of a name in bytes (RFC 1035 section 3.1). It also stops a name whose pointers form a circle.
  private static let longestName = 255

  /// Returns whether a message comes from the link (RFC 6762 section 11). An IPv4 socket hears only the group; an IPv6
  /// socket also hears unicast from anywhere.
  static func isOnLink(_ source: IPAddress) -> Bool { !source.isIPv6 || source.isLinkLocal }

  /// Returns whether a candidate's address is a name to resolve: one label before `.local` (draft, section 3.2.1).
  static func isName(_ text: some StringProtocol) -> Bool {
    let lowercase = text.lowercased()
    guard lowercase.hasSuffix(".local") else { return false }
    let label = lowercase.dropLast(6)
    return !label.isEmpty && label.utf8.count <= 63 && !label.contains(".")
  }

  /// Returns a query for the IPv4 and IPv6 addresses of a name.
  static func query(for name: String) -> [UInt8] {
    // Identifier and flags are zero; two questions.
    var bytes: [UInt8] = [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    for type in [RecordType.a, RecordType.aaaa] { bytes += encoded(name) + [0, UInt8(type), 0, 1] }
    return bytes
  }

  static func encoded(_ name: String) -> [UInt8] {
    name.split(separator: ".").flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + $0.utf8 } + [0]
  }

  /// Returns the addresses of a name in a response, in its order; none if it is not a response or lacks the name.
  static func addresses(of name: String, in message: RawSpan) -> [IPAddress] {
    guard let flags = message.bigEndian(UInt16.self, at: 2), flags & 0x8000 != 0,
      let (_, offset) = readQuestions(message)
    else { return [] }
    let name = name.lowercased()
    return readAddresses(message, at: offset).filter { $0.owner == name }.map(\.address)
  }

  /// A query of another host.
  struct Query {
    struct Question: Hashable {
      let name: String
      let type: UInt16
      /// Whether the answer may come by unicast (RFC 6762 section 5.4).
      let wantsUnicast: Bool
    }

    let identifier: UInt16
    let questions: [Question]
    /// The known answers of the querier, with their remaining lifetimes in seconds.
    let known: [(owner: String, address: IPAddress, lifetime: UInt32)]

    /// Fails for a response and for a malformed message.
    init?(_ message: RawSpan) {
      guard let identifier = message.bigEndian(UInt16.self, at: 0), let flags = message.bigEndian(UInt16.self, at: 2),
        flags & 0xF800 == 0, let (questions, offset) = MulticastDNSMessage.readQuestions(message)
      else { return nil }
      self.identifier = identifier
      self.questions = questions
      known = MulticastDNSMessage.readAddresses(message, at: offset)
    }
  }

  /// Returns the questions of class IN and the offset after them.
  private static func readQuestions(_ message: RawSpan) -> ([Query.Question], end: Int)? {
    guard let count = message.bigEndian(UInt16.self, at: 4) else { return nil }
    var questions: [Query.Question] = []
    var offset = 12
    for _ in 0..<count {
      guard let (name, end) = readName(message, at: offset), let type = message.bigEndian(UInt16.self, at: end),
        let kind = message.bigEndian(UInt16.self, at: end + 2)
      else { return nil }
      let isInternet = kind & 0x7FFF == 1 || kind & 0x7FFF == RecordType.any
      if isInternet { questions.append(.init(name: name, type: type, wantsUnicast: kind & 0x8000 != 0)) }
      offset = end + 4
    }
    return (questions, offset)
  }

  /// Returns the addresses in the records from `start` up to the first malformed one.
  private static func readAddresses(
    _ message: RawSpan, at start: Int
  ) -> [(owner: String, address: IPAddress, lifetime: UInt32)] {
    guard let answers = message.bigEndian(UInt16.self, at: 6),
      let authorities = message.bigEndian(UInt16.self, at: 8), let additional = message.bigEndian(UInt16.self, at: 10)
    else { return [] }
    var found: [(owner: String, address: IPAddress, lifetime: UInt32)] = []
    var offset = start
    for _ in 0..<(Int(answers) + Int(authorities) + Int(additional)) {
      guard let (owner, end) = readName(message, at: offset), let type = message.bigEndian(UInt16.self, at: end),
        let lifetime = message.bigEndian(UInt32.self, at: end + 4),
        let length = message.bigEndian(UInt16.self, at: end + 8)
      else { return found }
      let data = end + 10
      if let address = address(message, type, Int(length), at: data) { found.append((owner, address, lifetime)) }
      offset = data + Int(length)
    }
    return found
  }

  private static func address(_ message: RawSpan, _ type: UInt16, _ length: Int, at offset: Int) -> IPAddress? {
    switch (type, length) {
    case (RecordType.a, 4): message.bigEndian(UInt32.self, at: offset).map { IPAddress(v4: $0) }
    case (RecordType.aaaa, 16):
      if let high = message.bigEndian(UInt64.self, at: offset), let low = message.bigEndian(UInt64.self, at: offset + 8)
      {
        IPAddress(v6: high, low)
      } else {
        nil
      }
    default: nil
    }
  }

  /// Returns a name in lower case and the offset after it.
  private static func readName(_ message: RawSpan, at start: Int) -> (name: String, end: Int)? {
    var labels: [UInt8] = []
    var offset = start
    var end: Int?
    while let length = message.byte(at: offset) {
      switch length {
      case 0: return (String(decoding: labels, as: UTF8.self).lowercased(), end ?? offset + 1)
      case 1...63:
        if !labels.isEmpty { labels.append(UInt8(ascii: ".")) }
        for index in offset + 1...offset + Int(length) {
          guard let byte = message.byte(at: index) else { return nil }
          labels.append(byte)
        }
        guard labels.count <= longestName else { return nil }
        offset += 1 + Int(length)
      case 0xC0...0xFF:
        guard let low = message.byte(at: offset + 1) else { return nil }
        let target = Int(length & 0x3F) << 8 | Int(low)
        // Pointers lead backwards only, so that each round of a circle adds a label.
        guard target < offset else { return nil }
        if end == nil { end = offset + 2 }
        offset = target
      default: return nil
      }
    }
    return nil
  }
}
