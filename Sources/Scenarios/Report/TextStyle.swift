public import CallCore

/// How text for people is dressed.
public struct TextStyle: Sendable {
  public enum Role: String, Sendable {
    case success = "32"
    case failure = "1;31"
    case warning = "33"
    case strong = "1"
    case place = "36"
    case label = "2"
  }

  public var isColored: Bool
  public init(isColored: Bool) { self.isColored = isColored }

  public static let plain = TextStyle(isColored: false)

  public func paint(_ text: String, _ role: Role) -> String {
    isColored ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// `24.31 s`; below a tenth of a second `0.004 s`.
  public static func seconds(_ interval: Interval) -> String { seconds(interval.seconds) }

  public static func seconds(_ seconds: Double) -> String { "\(decimal(seconds, places: seconds < 0.1 ? 3 : 2)) s" }

  /// Without Foundation's formatting, which follows the machine's language.
  public static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    guard abs(value) * Double(scale) < 9e18 else { return "\(value)" }
    let scaled = Int64((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(scaled)" }
    let rest = String(scaled % scale + scale).dropFirst()
    return "\(sign)\(scaled / scale).\(rest)"
  }

  /// Control characters would move the terminal's cursor; tabs stay.
  public static func printable(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { out.append(isPrintable(scalar) ? scalar : "\u{FFFD}") }
    return String(out)
  }

  /// False for control characters, and for those that turn the direction of the text that follows (UAX #9).
  static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09: true
    case 0x00...0x1F, 0x7F...0x9F: false
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
    default: true
    }
  }

  /// Lines that a runner of GitHub would take for a workflow command get a mark before it: it looks for `::` and `##[`
  /// after the blanks of every line that a step prints.
  static func withoutCommands(_ text: String) -> String {
    guard text.contains("::") || text.contains("##[") else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let start = line.firstIndex { !$0.isWhitespace } ?? line.endIndex
      guard line[start...].hasPrefix("::") || line[start...].hasPrefix("##[") else { return String(line) }
      return line[..<start] + "| " + line[start...]
    }.joined(separator: "\n")
  }

  /// The same, for text of several lines.
  static func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }.joined(separator: "\n")
  }

  /// An argument as a POSIX shell takes it unchanged; control characters in the form of POSIX.1-2024, `$'a\nb'`.
  public static func shellQuoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "-_./=:@%+,".utf8.contains(byte)
      }
    }
    if plain, !text.isEmpty { return text }
    if text.unicodeScalars.contains(where: { !isPrintable($0) || $0 == "\t" }) { return dollarQuoted(text) }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private static func dollarQuoted(_ text: String) -> String {
    var out = "$'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\": out += "\\" + String(scalar)
      case _ where isPrintable(scalar) && scalar != "\t": out.unicodeScalars.append(scalar)
      default:
        // Three octal digits for each byte: no digit that follows is taken for one of them.
        for byte in String(scalar).utf8 { out += "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst() }
      }
    }
    return out + "'"
  }
}
