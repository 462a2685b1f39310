internal import ScenarioFormat
internal import Statistics
internal import Vocabulary

extension StatsReport {
  /// Returns the value of `stats.inbound-rtp.audio.packetsLost`: a type, a kind if the type has one, and a W3C member.
  /// For candidate pairs it is that of the selected pair.
  ///
  /// A report may have several objects of one type and kind: a stream for each remote user, an encoding of a simulcast.
  /// Their counters and rates are added up, the counters with those of streams that have ended. Of other numbers it is the largest, a flag is set where any is, and a text
  /// is that of the last object, which in a simulcast is the largest encoding.
  ///
  /// - Parameter ended: the streams of the connection that have ended.
  func value(of path: ValuePath, ended: [Entry] = []) -> Value? {
    let parts = path.name.split(separator: ".").map(String.init)
    guard parts.count >= 3, parts[0] == "stats" else { return nil }
    let member = parts[parts.count - 1]
    if parts[1] == "candidate-pair" { return selectedPair?[member] }
    if parts[1] == "data-channel" {
      return entries.last { $0.type == parts[1] && $0["label"] == .text(parts[2]) }?[member]
    }
    let kind = parts.count > 3 ? parts[2] : nil
    let isSum = path.counting != nil || path.type == .rate
    var result: Value?
    for entry in path.counting == nil ? entries : ended + entries
    where entry.type == parts[1] && (kind == nil || entry.kind == kind) {
      guard let value = entry[member] else { continue }
      result = result.map { $0.joined(with: value, adding: isSum) } ?? value
    }
    return result
  }

  /// Returns the sum of a member over all objects of a type, and of a kind; nil if none has it as a number.
  ///
  /// - Parameter ended: the streams of the connection that have ended, for counters.
  func sum(_ member: String, of type: String, kind: String? = nil, ended: [Entry] = []) -> Double? {
    let numbers = (ended + entries).filter { $0.type == type && (kind == nil || $0.kind == kind) }.compactMap {
      $0.number(member)
    }
    return numbers.isEmpty ? nil : numbers.reduce(0, +)
  }
}

extension StatsReport.Value {
  fileprivate func joined(with other: Self, adding: Bool) -> Self {
    switch (self, other) {
    case (.flag(let one), .flag(let other)): return .flag(one || other)
    case (.integer(let one), .integer(let other)):
      guard adding else { return .integer(max(one, other)) }
      let (sum, isOverflow) = one.addingReportingOverflow(other)
      return isOverflow ? .real(Double(one) + Double(other)) : .integer(sum)
    default:
      guard let one = number, let number = other.number else { return other }
      return .real(adding ? one + number : max(one, number))
    }
  }

  /// A number, as a floating-point one; nil for a flag and a text.
  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .flag, .text: nil
    }
  }
}
