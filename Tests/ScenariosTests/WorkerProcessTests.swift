import Foundation
import Synchronization
import Testing

@testable import Scenarios

@Suite struct WorkerProcessTests {
  /// Whoever waits for the end of a pipe waits for every process that has its other end.
  @Test func `workers that start at once have no pipe but their own`() {
    let pipes = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 100) { _ in
      guard
        let worker = try? WorkerProcess(
          executable: "/bin/sh", arguments: ["-c", "ls -l /proc/$$/fd | grep -c pipe: && sleep 0.05"])
      else { return }
      let line = worker.receive().line ?? []
      pipes.withLock { $0.append(Int(String(decoding: line, as: UTF8.self)) ?? 0) }
    }
    #expect(pipes.withLock { $0 } == Array(repeating: 3, count: 100))
  }
}
