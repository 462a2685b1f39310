internal import Foundation

/// Turns Ctrl-C and SIGTERM into something that can be waited for with pipes.
enum Interruption {
  /// The handler may do nothing but write to a descriptor, and a C function has nowhere else to find it.
  nonisolated(unsafe) private static var writeEnd: Int32 = -1

  /// Begins to catch signals.
  ///
  /// - Returns: a descriptor that becomes readable when one has come.
  static func watch() throws -> Int32 {
    let pipe = try ChildPipe()
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

  static func unwatch(_ readEnd: Int32) {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    close(readEnd)
    close(writeEnd)
    writeEnd = -1
  }
}
