internal import Foundation

/// Turns Ctrl-C and SIGTERM into something that can be waited for with pipes.
///
/// Signals come to the process, so there is one pipe for all suites that run in it, and it is never closed: a suite that
/// ends must not look like a signal to another.
enum Interruption {
  private static let pipe = Result { try ChildPipe() }
  /// The handler may do nothing but write to a descriptor, and a C function has nowhere else to find it.
  nonisolated(unsafe) private static var writeEnd: Int32 = -1

  /// Begins to catch signals.
  ///
  /// - Returns: a descriptor that becomes readable when one has come.
  static func watch() throws -> Int32 {
    let pipe = try pipe.get()
    writeEnd = pipe.writeEnd
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { _ in
        var byte: UInt8 = 1
        _ = write(Interruption.writeEnd, &byte, 1)
      }
    }
    // Whoever started this program may have blocked them, and that is inherited.
    var mask = sigset_t()
    sigemptyset(&mask)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&mask, number) }
    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    // A dead worker shows in its pipe, not as a signal.
    signal(SIGPIPE, SIG_IGN)
    return pipe.readEnd
  }

  /// Lets signals end the process again.
  static func unwatch() {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
  }
}
