import CallCore

/// Numbers with units as scenario files write them.
enum Quantity {
  /// The meaning of a scalar that begins with a number.
  enum Reading: Equatable {
    case value(Value)
    /// A number without a unit.
    case bare(Double)
    case unknownUnit(String)
    /// A number with a unit that does not fit 64 bits, or a time beyond the limit; with the reason.
    case tooLarge(String)
  }

  static let durationUnits = ["ns", "us", "ms", "s", "min", "m", "h"]
  static let rateUnits = ["bps", "kbps", "Mbps", "Gbps"]
  static let byteUnits = ["B", "kB", "KiB", "MB", "MiB"]
  static let percentUnits = ["%", "ppm"]
  private static let families = [durationUnits, rateUnits, percentUnits, byteUnits]
  static var units: [String] { families.flatMap(\.self) }
  /// `ns us ms, bps kbps, %`: each family together.
  static var unitList: String { families.map { $0.joined(separator: " ") }.joined(separator: ", ") }

  /// The limit of times, so that sums of a few times fit 64 bits.
  private static let yearInNanoseconds: UInt64 = 8_760 * 3_600 * 1_000_000_000

  /// Reads `-1.5Mbps`; nil when the text is not a number followed by letters or `%`.
  static func read(_ text: String) -> Reading? {
    let utf8 = Array(text.utf8)
    var end = 0
    if let first = utf8.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { end = 1 }
    let digits = end
    while end < utf8.count, isDigit(utf8[end]) { end += 1 }
    guard end > digits else { return nil }
    if end + 1 < utf8.count, utf8[end] == UInt8(ascii: "."), isDigit(utf8[end + 1]) {
      end += 1
      while end < utf8.count, isDigit(utf8[end]) { end += 1 }
    }
    let unit = String(decoding: utf8[end...], as: UTF8.self)
    guard unit.unicodeScalars.allSatisfy({ $0 == "%" || $0.properties.isAlphabetic || $0 == "/" }),
      let number = Double(String(decoding: utf8[..<end], as: UTF8.self)), number.isFinite
    else { return nil }
    guard !unit.isEmpty else { return .bare(number) }
    return value(String(decoding: utf8[..<end], as: UTF8.self), unit: unit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func value(_ number: String, unit: String) -> Reading {
    let scale: Int64
    switch unit {
    case "ns", "bps", "B": scale = 1
    case "us", "kbps", "kB": scale = 1_000
    case "ms", "Mbps", "MB": scale = 1_000_000
    case "s", "Gbps": scale = 1_000_000_000
    case "min", "m": scale = 60_000_000_000
    case "h": scale = 3_600_000_000_000
    case "KiB": scale = 1_024
    case "MiB": scale = 1_048_576
    // Decimal scaling yields the double that is nearest to the text.
    case "%": return .value(.percentage(Double(number + "e-2") ?? 0))
    case "ppm": return .value(.percentage(Double(number + "e-6") ?? 0))
    default: return .unknownUnit(unit)
    }
    let isDuration = durationUnits.contains(unit)
    guard let whole = whole(number, times: scale),
      !isDuration || whole.magnitude <= yearInNanoseconds
    else { return .tooLarge(isDuration ? "a time is at most a year, 8760h" : "it does not fit 64 bits") }
    if isDuration { return .value(.duration(.nanoseconds(whole))) }
    if rateUnits.contains(unit) { return .value(.rate(.bitsPerSecond(whole))) }
    return .value(.byteSize(Int(whole)))
  }

  private static func whole(_ number: String, times scale: Int64) -> Int64? {
    guard let integer = Int64(number) else {
      return Double(number).flatMap { Int64(exactly: ($0 * Double(scale)).rounded()) }
    }
    let (product, overflow) = integer.multipliedReportingOverflow(by: scale)
    return overflow ? nil : product
  }

  /// Returns advice for a number without a unit in place of a percentage: below one it is probably a fraction.
  static func shareHint(_ text: String) -> String? {
    guard let share = Double(text), abs(share) < 1 else { return nil }
    return "write \(percentText(share))"
  }

  /// Returns advice for a number without a unit.
  ///
  /// - Parameter unit: a unit of the wanted family.
  static func hint(_ text: String, unit: String) -> String {
    let number = Double(text) ?? 0
    if durationUnits.contains(unit) {
      // W3C APIs give all times in seconds.
      let isShare = number.magnitude < 1 && number != 0
      return isShare ? "write \(Interval.nanoseconds(Int64((number * 1e9).rounded())))" : "write \(text)ms or \(text)s"
    }
    if rateUnits.contains(unit) { return number < 1_000 ? "write \(text)kbps or \(text)Mbps" : "write \(text)bps" }
    return (unit == "%" ? shareHint(text) : nil) ?? "write \(text)\(unit)"
  }

  /// Returns the quantity that a malformed text means: `3s` for `3 s`, `90s` for `1m30s`, `0.5s` for `.5s`.
  static func meant(by text: String) -> String? {
    let joined = text.filter { $0 != " " }
    let whole = joined.hasPrefix(".") ? "0" + joined : joined
    guard whole.utf8.count <= 20 else { return nil }
    if case .value = read(whole) { return whole }
    var (total, rest) = (Interval.zero, Substring(whole))
    while !rest.isEmpty {
      let number = rest.prefix { $0.isNumber || $0 == "." }
      let unit = rest.dropFirst(number.count).prefix { $0.isLetter }
      guard case .value(.duration(let part)) = read("\(number)\(unit)") else { return nil }
      total += part
      rest = rest.dropFirst(number.count + unit.count)
    }
    return total > .zero ? "\(total)" : nil
  }

  /// Returns a fraction as text: `12.5%`, or `120ppm` for very small fractions.
  static func percentText(_ fraction: Double) -> String {
    let isTiny = fraction != 0 && fraction.magnitude < 0.0005
    let scaled = (fraction * (isTiny ? 1e6 : 100) * 1e6).rounded() / 1e6
    let number = Int64(exactly: scaled).map { "\($0)" } ?? "\(scaled)"
    return number + (isTiny ? "ppm" : "%")
  }
}
