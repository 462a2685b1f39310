/// One measured number and what it should be.
struct Figure {
  enum Aim {
    case atLeast(Double)
    case atMost(Double)
  }

  let name: String
  let measured: Double
  let aim: Aim

  init(_ name: String, _ measured: Double, aim: Double) {
    self.name = name
    self.measured = measured
    self.aim = .atLeast(aim)
  }

  init(_ name: String, _ measured: Double, limit: Double) {
    self.name = name
    self.measured = measured
    aim = .atMost(limit)
  }

  var isReached: Bool {
    switch aim {
    case .atLeast(let bound): measured >= bound
    case .atMost(let bound): measured <= bound
    }
  }
}

/// Prints figures as they come.
struct FigureTable {
  private static let columns = (name: 52, number: 12)

  func printHeader() {
    print("\(processorName()); CPU time of one core, best of \(rounds)")
    print("figure".padded(to: Self.columns.name), "measured".aligned(to: Self.columns.number), "     aim")
  }

  func add(_ figure: Figure) {
    let (sign, bound) =
      switch figure.aim {
      case .atLeast(let bound): ("≥", bound)
      case .atMost(let bound): ("≤", bound)
      }
    print(
      figure.name.padded(to: Self.columns.name), short(figure.measured).aligned(to: Self.columns.number),
      "  \(sign) \(short(bound))".padded(to: 11), figure.isReached ? "" : "missed")
  }

  /// Three significant digits with a unit prefix: `6.12 M`.
  private func short(_ value: Double) -> String {
    switch value {
    case 1e6...: digits(value / 1e6) + " M"
    case 1e4...: digits(value / 1e3) + " k"
    default: digits(value)
    }
  }

  private func digits(_ value: Double) -> String {
    let places = value >= 100 ? 0 : value >= 10 ? 1 : 2
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let rounded = Int((value * scale).rounded())
    guard places > 0 else { return "\(rounded)" }
    let fraction = "\(rounded % Int(scale))"
    return "\(rounded / Int(scale))." + String(repeating: "0", count: places - fraction.count) + fraction
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
  fileprivate func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
