public import CallCore
internal import Formats

/// The style of text on a terminal: with ANSI colours or without.
public struct TextStyle: Sendable {
  /// The role of a piece of text; the raw value is its SGR parameter.
  public enum Role: String, Sendable {
    case success = "32"
    case failure = "1;31"
    case warning = "33"
    case strong = "1"
    case place = "36"
    case label = "2"
  }

  /// Whether escape sequences are written.
  public var isColored: Bool
  /// Creates a style.
  public init(isColored: Bool) { self.isColored = isColored }

  /// The style without escape sequences.
  public static let plain = TextStyle(isColored: false)

  /// Returns the text in the style of a role, or unchanged without colours.
  public func paint(_ text: String, _ role: Role) -> String {
    isColored ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Returns `24.31 s`; below a tenth of a second `0.004 s`.
  public static func seconds(_ interval: Interval) -> String { seconds(interval.seconds) }

  /// Returns `24.31 s`; below a tenth of a second `0.004 s`.
  public static func seconds(_ seconds: Double) -> String { "\(decimal(seconds, places: seconds < 0.1 ? 3 : 2)) s" }

  /// Returns a number with a fixed number of decimals. Foundation's formatting would depend on the locale.
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

  /// Replaces control characters, which could move the terminal's cursor; tabs stay.
  public static func printable(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { out.append(scalar.isPrintable ? scalar : "\u{FFFD}") }
    return String(out)
  }

  /// Replaces control characters in text of several lines.
  package static func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }.joined(separator: "\n")
  }
}
