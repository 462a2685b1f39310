public import CallCore
internal import Formats

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
    for scalar in text.unicodeScalars { out.append(scalar.isPrintable ? scalar : "\u{FFFD}") }
    return String(out)
  }

  /// The same, for text of several lines.
  package static func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }.joined(separator: "\n")
  }
}
