extension ClosedRange<UInt16> {
  /// Parses a range of ports, such as `50000-50100`.
  init?(ports text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
    guard parts.count == 2, let first = parts[0], let last = parts[1], first > 0, first <= last else { return nil }
    self = first...last
  }
}
