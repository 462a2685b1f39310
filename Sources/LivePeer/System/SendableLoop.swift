/// A reference to a loop for other threads, which may only enqueue jobs.
struct SendableLoop: @unchecked Sendable {
  private let loop: SocketLoop

  init(_ loop: SocketLoop) { self.loop = loop }

  func enqueue(_ job: @escaping @Sendable () -> Void) { loop.enqueue(job) }
}
