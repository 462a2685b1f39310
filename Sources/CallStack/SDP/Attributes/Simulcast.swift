/// `a=simulcast` (RFC 8853 section 5.1): the streams of a section that are encodings of one source.
package struct Simulcast: Hashable, Sendable {
  /// One way to send an encoding.
  package struct Alternative: Hashable, Sendable {
    package var id: String
    /// Whether sending is paused.
    package var isPaused: Bool

    package init(_ id: String, isPaused: Bool = false) {
      self.id = id
      self.isPaused = isPaused
    }

    init?(_ text: Substring) {
      let id = text.first == "~" ? text.dropFirst() : text
      guard id.isRestrictionID else { return nil }
      self.init(String(id), isPaused: text.first == "~")
    }

    var text: String { (isPaused ? "~" : "") + id }
  }

  /// The encodings with their alternatives, the preferred one first, seen from the side that announces them.
  package var send: [[Alternative]]
  package var receive: [[Alternative]]

  package init(send: [[Alternative]] = [], receive: [[Alternative]] = []) {
    self.send = send
    self.receive = receive
  }

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count == 2 || fields.count == 4 else { return nil }
    self.init()
    var known: Set<Substring> = []
    for index in stride(from: 0, to: fields.count, by: 2) {
      guard known.insert(fields[index]).inserted, let list = Self.list(fields[index + 1]) else { return nil }
      switch fields[index] {
      case "send": send = list
      case "recv": receive = list
      default: return nil
      }
    }
  }

  private static func list(_ text: Substring) -> [[Alternative]]? {
    var result: [[Alternative]] = []
    for entry in text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      let parts = entry.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      let alternatives = parts.compactMap { Alternative(Substring($0)) }
      guard alternatives.count == parts.count else { return nil }
      result.append(alternatives)
    }
    return result
  }

  var text: String {
    func list(_ entries: [[Alternative]]) -> String {
      entries.map { $0.map(\.text).joined(separator: ",") }.joined(separator: ";")
    }
    let parts = [("send", send), ("recv", receive)].filter { !$0.1.isEmpty }
    return parts.map { "\($0.0) \(list($0.1))" }.joined(separator: " ")
  }

  /// Returns the simulcast without unknown streams. `isKnown` gets the direction as announced.
  func filtered(_ isKnown: (String, Restriction.Direction) -> Bool) -> Simulcast? {
    func known(_ entries: [[Alternative]], _ direction: Restriction.Direction) -> [[Alternative]] {
      entries.map { $0.filter { isKnown($0.id, direction) } }.filter { !$0.isEmpty }
    }
    let result = Simulcast(send: known(send, .send), receive: known(receive, .recv))
    return result.send.isEmpty && result.receive.isEmpty ? nil : result
  }
}

extension MediaDescription {
  /// The section's restrictions, without those that share a name or list only formats that are not in the section (RFC
  /// 8851 section 6.2.2).
  package var restrictions: [Restriction] {
    let all = attributes.values("rid").compactMap { Restriction($0) }
    var counts: [String: Int] = [:]
    for restriction in all { counts[restriction.id, default: 0] += 1 }
    return all.compactMap { restriction in
      guard counts[restriction.id] == 1 else { return nil }
      guard !restriction.payloadTypes.isEmpty else { return restriction }
      var usable = restriction
      usable.payloadTypes.removeAll { !formats.contains("\($0)") }
      return usable.payloadTypes.isEmpty ? nil : usable
    }
  }

  /// The section's simulcast, limited to streams with an `a=rid` of that direction (RFC 8853 section 5.2).
  package var simulcast: Simulcast? {
    let lines = attributes.values("simulcast")
    guard lines.count == 1, let simulcast = Simulcast(lines[0]) else { return nil }
    let known = restrictions
    return simulcast.filtered { id, direction in known.contains { $0.id == id && $0.direction == direction } }
  }
}
