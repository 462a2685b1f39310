internal import Foundation

/// Turns SIGINT and SIGTERM into a readable pipe.
///
/// Signals reach the whole process, so all its suites share one pipe, which is never closed: otherwise the end of one
/// suite would look like a signal to another.
enum Interruption {
  private static let pipe = Result { try ChildPipe() }
  /// The write end, global because a signal handler is a C function without context, and may only write to a
  /// descriptor.
  nonisolated(unsafe) private static var writeEnd: Int32 = -1

  /// Starts to catch signals.
  ///
  /// - Returns: a descriptor that becomes readable after a signal.
  static func watch() throws -> Int32 {
    let pipe = try pipe.get()
    writeEnd = pipe.writeEnd
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { _ in
        var byte: UInt8 = 1
        _ = write(Interruption.writeEnd, &byte, 1)
      }
    }
    // The parent process may have blocked the signals, and children inherit the mask.
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&mask, number) }
    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    // A dead worker shows as the end of its pipe, so SIGPIPE must not end this process.
    signal(SIGPIPE, SIG_IGN)
    return pipe.readEnd
  }

  /// Restores the default action of the signals.
  static func unwatch() {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
  }
}
