internal import CLinux
internal import Glibc

/// Tells a loop when the process is told to end, so that what it holds is let go.
package final class SignalWatch {
  private let descriptor: Int32
  private let loop: SocketLoop

  /// From now on SIGINT, SIGTERM and SIGHUP call `handler` on the loop, and do not end the process. For before other
  /// threads are started, which inherit what is blocked.
  package init(on loop: SocketLoop, _ handler: @escaping () -> Void) {
    var mask = sigset_t()
    sigemptyset(&mask)
    for signal in [SIGINT, SIGTERM] { sigaddset(&mask, signal) }
    if !Self.isHangUpIgnored { sigaddset(&mask, SIGHUP) }
    pthread_sigmask(SIG_BLOCK, &mask, nil)
    let descriptor = signalfd(-1, &mask, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
    self.descriptor = descriptor
    self.loop = loop
    loop.watch(descriptor, for: Int16(POLLIN)) { _ in
      var info = signalfd_siginfo()
      while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) > 0 { handler() }
    }
  }

  deinit {
    loop.unwatch(descriptor)
    close(descriptor)
  }

  /// Whether `nohup` started us: a signal that is blocked comes even so.
  private static var isHangUpIgnored: Bool {
    var action = sigaction()
    sigaction(SIGHUP, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
