/// Splitting and number parsing on UTF-8 bytes, because grapheme rules (CR LF is one `Character`) do not apply to
/// protocols.
extension StringProtocol {
  /// Returns the non-empty parts between separators.
  func fields(_ separator: Unicode.Scalar = " ", maximum: Int = .max) -> [Substring] {
    Substring(self).utf8.split(separator: UInt8(ascii: separator), maxSplits: maximum - 1).map { Substring($0) }
  }

  /// Returns the parts before and after the first separator; the second is nil if there is no separator.
  func halves(_ separator: Unicode.Scalar) -> (Substring, Substring?) {
    let text = Substring(self)
    guard let at = text.utf8.firstIndex(of: UInt8(ascii: separator)) else { return (text, nil) }
    return (text[..<at], text[text.utf8.index(after: at)...])
  }

  /// Returns the text as an unsigned decimal number; nil for a sign, other characters or overflow.
  func number<T: FixedWidthInteger>(_: T.Type = T.self) -> T? {
    // Without T(_:): descriptions of large rooms hold tens of thousands of numbers.
    var result: T = 0
    var isEmpty = true
    for byte in utf8 {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      let (tens, overflows) = result.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) = tens.addingReportingOverflow(T(truncatingIfNeeded: byte - 0x30))
      guard !overflows, !overflowsToo else { return nil }
      (result, isEmpty) = (sum, false)
    }
    return isEmpty ? nil : result
  }

  var trimmed: Substring {
    var view = Substring(self).utf8
    while view.first == 0x20 { view.removeFirst() }
    while view.last == 0x20 { view.removeLast() }
    return Substring(view)
  }

  /// Whether the text is a `token`, more loosely than in RFC 8866: not empty, visible ASCII only.
  var isToken: Bool { !isEmpty && utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }

  /// Whether the texts differ at most in the case of ASCII letters.
  func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
    utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension UInt8 {
  fileprivate var asciiLowercased: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}
