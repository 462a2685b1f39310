package import CallCore
package import Vocabulary

/// Formats times, numbers and values for messages.
package enum Wording {
  /// Returns `22.31 s`, with a third decimal only if it is not zero.
  package static func time(_ instant: Instant) -> String { number(instant) + " s" }

  /// Returns `22.31`, the time in seconds.
  package static func number(_ instant: Instant) -> String {
    let milliseconds = (instant.nanoseconds + (instant.nanoseconds < 0 ? -500_000 : 500_000)) / 1_000_000
    let sign = milliseconds < 0 ? "-" : ""
    let (whole, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(rest + 1_000).dropFirst()
    return "\(sign)\(whole).\(digits.last == "0" ? digits.dropLast() : digits)"
  }

  /// The advice for a bound on a counter that was passed before the window.
  package static let butCountersDoNotFall =
    "and a counter does not fall: for what it grows by, write metric: … stat: delta"

  package static func quoted(_ anchor: Anchor) -> String { "'\(anchor.text)'" }

  package static func peers(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// Returns `80, 443, 49152-65535` for sorted ports.
  package static func ports(_ ports: [UInt16]) -> String {
    var runs: [ClosedRange<UInt16>] = []
    for port in ports {
      if let last = runs.last, last.upperBound < port, port - last.upperBound == 1 {
        runs[runs.count - 1] = last.lowerBound...port
      } else {
        runs.append(port...port)
      }
    }
    let shown = runs.prefix(8).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    return shown.joined(separator: ", ") + (runs.count > 8 ? ", …" : "")
  }

  /// Returns `once`, `twice` or `3 times`.
  package static func times(_ number: Int) -> String {
    switch number {
    case 0: "never"
    case 1: "once"
    case 2: "twice"
    default: "\(number) times"
    }
  }

  /// Returns a measured number with its unit; durations are in seconds, rates in bits per second.
  package static func quantity(_ number: Double, _ type: ValueType, unit: String? = nil) -> String {
    switch type {
    case .duration: "\(Interval.microseconds(1).scaled(by: (number * 1e6).rounded()))"
    case .rate: rate(number)
    case .percentage: Quantity.percentText((number * 1e4).rounded() / 1e4)
    case .byteSize: "\(decimal(number, places: 1))B"
    default: decimal(number, places: 3) + (unit.map { " \($0)" } ?? "")
    }
  }

  private static func rate(_ bitsPerSecond: Double) -> String {
    switch bitsPerSecond.magnitude {
    case 1e9...: decimal(bitsPerSecond / 1e9, places: 2) + "Gbps"
    case 1e6...: decimal(bitsPerSecond / 1e6, places: 2) + "Mbps"
    case 1e3...: decimal(bitsPerSecond / 1e3, places: 1) + "kbps"
    default: decimal(bitsPerSecond, places: 0) + "bps"
    }
  }

  /// Returns a rounded number without trailing zeros.
  package static func decimal(_ number: Double, places: Int) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let rounded = (number * scale).rounded() / scale
    if let whole = Int64(exactly: rounded) { return "\(whole)" }
    return "\(rounded)"
  }

  static func bound(_ bound: Expectation.Bound) -> String {
    let words =
      switch bound.comparison {
      case .less: "less than"
      case .lessOrEqual: "at most"
      case .greater: "more than"
      case .greaterOrEqual: "at least"
      case .equal: "exactly"
      case .notEqual: "not"
      }
    return "\(words) \(bound.value)"
  }

  package static func bounds(_ bounds: [Expectation.Bound]) -> String { bounds.map(bound).joined(separator: " and ") }
}

extension [Expectation.Bound] {
  /// Returns the distance of a number from the bound that it misses most, relative to that bound, or absolute for a
  /// bound of 0; nil when it meets all bounds.
  package func miss(of number: Double) -> Double? {
    lazy.filter { !$0.admits(number) }.compactMap { bound in
      bound.value.number.map { abs(number - $0) / ($0 == 0 ? 1 : abs($0)) }
    }.max()
  }
}
