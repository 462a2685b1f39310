import CallCore
import Vocabulary

/// Groups of types whose values may be compared with each other.
enum ValueFamily: Equatable {
  case number, duration, rate, percentage, text, flag

  init(_ type: ValueType) {
    switch type {
    case .count, .real, .byteSize: self = .number
    case .duration: self = .duration
    case .rate: self = .rate
    case .percentage: self = .percentage
    case .flag: self = .flag
    case .text, .peer, .peers, .choice: self = .text
    }
  }
}

extension Comparison {
  func suits(_ family: ValueFamily) -> Bool {
    family != .text && family != .flag || self == .equal || self == .notEqual
  }
}

enum ValueFit: Equatable {
  case fits
  case needsUnit(String)
  case differs(String)
}

extension ValueType {
  /// Returns whether a constant can be compared with a watched value of this type.
  func check(_ value: Value, unit: String?) -> ValueFit {
    let isBare =
      switch value {
      case .count, .real: true
      default: false
      }
    switch (self, value) {
    case (.count, .count), (.count, .real), (.real, .count), (.real, .real), (.flag, .flag), (.duration, .duration),
      (.rate, .rate), (.percentage, .percentage), (.byteSize, .byteSize), (.text, .text), (.peer, .text),
      (.peers, .text):
      return .fits
    case (.count, .byteSize) where unit == "bytes": return .fits
    case (.choice(let legal), .text(let text)): return legal.contains(text) ? .fits : .differs("one of its choices")
    case (.duration, _): return isBare ? .needsUnit("ms") : .differs("a time such as 250ms")
    case (.rate, _): return isBare ? .needsUnit("kbps") : .differs("a rate such as 1.5Mbps")
    case (.percentage, _): return isBare ? .needsUnit("%") : .differs("a share such as 5%")
    case (.byteSize, _): return isBare ? .needsUnit("B") : .differs("a size such as 1200B")
    case (.count, _), (.real, _): return .differs("a number")
    case (.flag, _): return .differs("true or false")
    case (.text, _), (.peer, _), (.peers, _), (.choice, _): return .differs("text")
    }
  }
}
