import Foundation
import Synchronization
import Testing

@testable import ScenarioSuite

@Suite struct WorkerProcessTests {
  /// Whoever waits for the end of a pipe waits for every process that has its other end.
  @Test func `workers that start at once have nobody else's pipe`() {
    let workers = Mutex<[[String]]>([])
    // What each descriptor is, in one line, the directory last: a pipe has its own number, the same in every process.
    let arguments = ["/proc/self/fd", "-depth", "-type", "l", "-printf", "%l ", "-o", "-type", "d", "-printf", "\\n"]
    DispatchQueue.concurrentPerform(iterations: 100) { _ in
      guard let worker = try? WorkerProcess(executable: "/usr/bin/find", arguments: arguments) else { return }
      let line = String(decoding: worker.receive().line ?? [], as: UTF8.self)
      let pipes = line.split(separator: " ").filter { $0.hasPrefix("pipe:") }.map(String.init)
      workers.withLock { $0.append(pipes) }
    }
    let all = workers.withLock { $0 }
    #expect(all.count == 100 && all.allSatisfy { $0.count >= 3 })
    let own = Set(all.flatMap { $0.prefix(3) })
    #expect(own.count == 300 && all.allSatisfy { own.isDisjoint(with: $0.dropFirst(3)) })
  }
}
