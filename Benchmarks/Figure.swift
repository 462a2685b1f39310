import Glibc

/// One number that is measured, and what it should be.
struct Figure {
  enum Aim {
    case atLeast(Double)
    case atMost(Double)
  }

  let name: String
  let aim: Aim
  /// The largest number of measurements, for what takes minutes.
  let limit: Int
  let measure: () -> Double

  init(_ name: String, _ aim: Aim, limit: Int = .max, measure: @escaping () -> Double) {
    self.name = name
    self.aim = aim
    self.limit = limit
    self.measure = measure
  }

  /// Measures several times and prints the best: noise on a shared machine only ever makes code slower.
  func measureAndPrint() {
    let values = (0..<min(rounds, limit)).map { _ in measure() }
    let (sign, bound, best, isReached) =
      switch aim {
      case .atLeast(let bound): ("≥", bound, values.max() ?? 0, (values.max() ?? 0) >= bound)
      case .atMost(let bound): ("≤", bound, values.min() ?? 0, (values.min() ?? 0) <= bound)
      }
    printRow(name, short(best), "\(sign) \(short(bound))", isReached ? "" : "missed")
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

func printHeader() {
  print("\(processorName()); processor time of one core, best of \(rounds)")
  printRow("figure", "measured", "aim", "")
}

private func printRow(_ name: String, _ measured: String, _ aim: String, _ remark: String) {
  let columns = name.padded(to: 60) + measured.aligned(to: 9) + "   " + aim.padded(to: 9) + remark
  print(columns.trimmed)
  fflush(nil)
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
  fileprivate func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
  fileprivate var trimmed: Substring {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return text
  }
}
