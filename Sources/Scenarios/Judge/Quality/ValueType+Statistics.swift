internal import Statistics
internal import Vocabulary

extension ValueType {
  /// Returns whether a member of the statistics is a value of this type.
  func admits(_ value: StatsReport.Value) -> Bool {
    switch (self, value) {
    case (_, .text(let word)): admits(word)
    case (.flag, .flag): true
    case (.count, .integer), (.rate, .integer), (.byteSize, .integer): true
    case (.count, .real(let number)), (.rate, .real(let number)), (.byteSize, .real(let number)):
      Int64(exactly: number.rounded()) != nil
    case (.real, .integer), (.percentage, .integer), (.duration, .integer): true
    case (.real, .real(let number)), (.percentage, .real(let number)), (.duration, .real(let number)): number.isFinite
    default: false
    }
  }
}
