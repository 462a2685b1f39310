/// The loop as other threads may have it: to hand it work.
struct SendableLoop: @unchecked Sendable {
  private let loop: SocketLoop

  init(_ loop: SocketLoop) { self.loop = loop }

  func enqueue(_ job: @escaping @Sendable () -> Void) { loop.enqueue(job) }
}
