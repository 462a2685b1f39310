import Formats
import Foundation
import ScenarioFormat
import ScenarioSuite

/// The program's standard output and standard error.
enum Output {
  /// The first error of writing to standard output, or nil.
  nonisolated(unsafe) private(set) static var loss: FileError?

  nonisolated(unsafe) private static var pending: [UInt8] = []
  private static let pendingLimit = 65_536

  static func text(_ text: String) {
    append(text)
    flush()
  }

  /// Writes text through a buffer, for long output whose lines need not appear immediately.
  static func append(_ text: String) {
    pending += text.utf8
    if pending.count > pendingLimit { flush() }
  }

  private static func flush() {
    defer { pending.removeAll(keepingCapacity: true) }
    guard loss == nil, !write(pending, to: STDOUT_FILENO) else { return }
    loss = FileError(path: "standard output", reason: String(cString: strerror(errno)))
  }

  /// Records an error of standard output, for a command that writes to it directly.
  static func noteLoss(_ reason: String) {
    loss = loss ?? FileError(path: "standard output", reason: reason)
    pending.removeAll()
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      offset += count
    }
    return true
  }

  /// Writes to standard error; a failure to do so cannot be reported.
  static func error(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

  /// Opens standard descriptors that are closed: the next file or socket would get their number, and then the output.
  static func openStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)
    }
  }

  /// Ends the process; with an error status if output was lost.
  static func exit(_ status: Int32) -> Never {
    flush()
    guard let loss else { Foundation.exit(status) }
    error("error: \(loss)\n")
    Foundation.exit(ExitStatus.inconclusive.rawValue)
  }

  /// Returns whether a descriptor is a terminal that supports control sequences.
  static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) != 0 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Returns the style for a descriptor: coloured on terminals, unless `NO_COLOR` is set to anything (no-color.org);
  /// elsewhere if `FORCE_COLOR` or `CLICOLOR_FORCE` is set to anything but 0 (bixense.com/clicolors).
  static func style(for descriptor: Int32) -> TextStyle {
    let environment = ProcessInfo.processInfo.environment
    let refused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    let forced = ["FORCE_COLOR", "CLICOLOR_FORCE"].contains { !["", "0"].contains(environment[$0] ?? "") }
    return TextStyle(isColored: (isTerminal(descriptor) || forced) && !refused)
  }
}
