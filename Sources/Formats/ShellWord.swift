/// Quotes arguments of commands for users to copy.
package enum ShellWord {
  /// Returns an argument quoted for a POSIX shell; control characters in the form of POSIX.1-2024, `$'a\nb'`.
  package static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "-_./=:@%+,".utf8.contains(byte)
      }
    }
    if plain, !text.isEmpty { return text }
    if text.unicodeScalars.contains(where: { !$0.isPrintable || $0 == "\t" }) { return dollarQuoted(text) }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private static func dollarQuoted(_ text: String) -> String {
    var out = "$'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\": out += "\\" + String(scalar)
      case _ where scalar.isPrintable && scalar != "\t": out.unicodeScalars.append(scalar)
      default:
        // Three octal digits for each byte, so that a following digit is not read as one of them.
        for byte in String(scalar).utf8 { out += "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst() }
      }
    }
    return out + "'"
  }
}
