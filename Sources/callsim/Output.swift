import Foundation
import Scenarios

/// Where text goes.
enum Output {
  static func text(_ text: String) {
    print(text, terminator: "")
    fflush(nil)
  }

  static func error(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

  /// Whether a stream is a terminal that shows what it is told to.
  static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) != 0 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Colour on terminals, unless `NO_COLOR` is set to anything (no-color.org).
  static func style(for descriptor: Int32) -> TextStyle {
    let refused = ProcessInfo.processInfo.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    return TextStyle(isColored: isTerminal(descriptor) && !refused)
  }
}
