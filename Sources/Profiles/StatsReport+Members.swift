internal import Statistics

extension StatsReport {
  func entry(_ type: String, _ id: String) -> Entry? { entries.first { $0.type == type && $0.id == id } }
}

extension StatsReport.Entry {
  func number(_ member: String) -> Double? {
    switch self[member] {
    case .integer(let number)?: Double(number)
    case .real(let number)?: number
    case .flag?, .text?, nil: nil
    }
  }

  func text(_ member: String) -> String? {
    if case .text(let text)? = self[member] { text } else { nil }
  }
}
