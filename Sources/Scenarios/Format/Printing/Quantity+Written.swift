import CallCore

extension Quantity {
  /// Returns the text of a value in scenario files, in the largest unit of which it is a whole number: `1500ms`. It
  /// decodes to the same value.
  static func written(_ value: Value) -> String {
    switch value {
    case .flag(let flag): "\(flag)"
    case .count(let count): "\(count)"
    case .real(let real): decimal(real, shiftedBy: 0, keepsFraction: true)
    case .duration(let interval):
      whole(interval.nanoseconds, [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)], "ns", zero: "0s")
    case .rate(let rate):
      whole(rate.bitsPerSecond, [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000)], "bps", zero: "0bps")
    case .byteSize(let size): "\(size)B"
    case .percentage(let fraction): share(fraction)
    case .text(let text): text
    case .list(let values): "[" + values.map(written).joined(separator: ", ") + "]"
    }
  }

  private static func whole(
    _ number: Int64, _ units: [(unit: String, scale: Int64)], _ smallest: String, zero: String
  ) -> String {
    guard number != 0 else { return zero }
    for (unit, scale) in units where number % scale == 0 { return "\(number / scale)\(unit)" }
    return "\(number)\(smallest)"
  }

  private static func share(_ fraction: Double) -> String {
    let isTiny = fraction != 0 && fraction.magnitude < 0.0005
    return decimal(fraction, shiftedBy: isTiny ? 6 : 2, keepsFraction: false) + (isTiny ? "ppm" : "%")
  }

  /// Returns the shortest decimal of a number, with its point moved to the right, and without an exponent.
  private static func decimal(_ number: Double, shiftedBy places: Int, keepsFraction: Bool) -> String {
    let text = "\(number.magnitude)"
    let parts = text.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    var digits = String(mantissa[0]) + (mantissa.count > 1 ? mantissa[1] : "")
    var point = mantissa[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) + places
    if point < 1 {
      digits = String(repeating: "0", count: 1 - point) + digits
      point = 1
    }
    if point > digits.count { digits += String(repeating: "0", count: point - digits.count) }
    var whole = String(digits.prefix(point).drop { $0 == "0" })
    if whole.isEmpty { whole = "0" }
    var fraction = String(digits.dropFirst(point))
    while fraction.last == "0" { fraction.removeLast() }
    if fraction.isEmpty, keepsFraction { fraction = "0" }
    return (number < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }
}
