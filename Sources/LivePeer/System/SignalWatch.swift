internal import CLinux
internal import Glibc

/// Reports termination signals to a loop, so that the process can release its resources.
package final class SignalWatch {
  private let descriptor: Int32
  private let loop: SocketLoop

  /// Makes SIGINT, SIGTERM and SIGHUP call `handler` on the loop instead of ending the process. Call this before other
  /// threads start, which inherit the blocked signals.
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

  /// Whether SIGHUP is ignored, as under `nohup`: if it is blocked, it is delivered all the same.
  private static var isHangUpIgnored: Bool {
    var action = sigaction()
    sigaction(SIGHUP, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
