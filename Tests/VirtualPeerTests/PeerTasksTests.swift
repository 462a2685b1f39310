import CallCore
import Foundation
import SimNet
import Testing

@testable import VirtualPeer

/// Async code of one participant, in virtual time.
@Suite struct PeerTasksTests {
  private final class Bench {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    let runtime: HostRuntime
    let tasks: PeerTasks
    private(set) var log: [String] = []

    init() throws {
      runtime = HostRuntime(
        simulator: simulator, host: try simulator.addHost("alice"), wallClock: WallClock())
      tasks = PeerTasks(clock: runtime.clock)
    }

    var clock: PeerClock { runtime.clock }

    /// Notes a word with the time in milliseconds.
    func note(_ word: String) { log.append("\(word) \((clock.now - .zero).milliseconds)") }

    func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }
  }

  @Test func `tasks begin after the event that started them, in the order of their start`() throws {
    let bench = try Bench()
    bench.clock.schedule(after: .milliseconds(5)) {
      for name in ["a", "b", "c"] { bench.tasks.start { bench.note(name) } }
      bench.note("started")
    }
    bench.run(for: .milliseconds(10))
    #expect(bench.log == ["started 5", "a 5", "b 5", "c 5"])
    #expect(bench.tasks.openCount == 0)
  }

  @Test func `a task goes on in its turn among the other events of the instant`() throws {
    let bench = try Bench()
    bench.tasks.start { bench.note("task 1") }
    bench.clock.schedule(after: .zero) { bench.note("timer 1") }
    bench.tasks.start { bench.note("task 2") }
    bench.clock.schedule(after: .zero) { bench.note("timer 2") }
    bench.run(for: .milliseconds(1))
    #expect(bench.log == ["task 1 0", "timer 1 0", "task 2 0", "timer 2 0"])
  }

  @Test func `sleeps end at their virtual time, and the earlier first`() throws {
    let bench = try Bench()
    for delay in [300, 100, 200] as [Int64] {
      bench.tasks.start {
        try? await bench.clock.sleep(for: .milliseconds(delay))
        bench.note("\(delay)")
      }
    }
    bench.tasks.start {
      try? await bench.clock.sleep(for: .milliseconds(-5))
      bench.note("past")
    }
    bench.run(for: .seconds(1))
    #expect(bench.log == ["past 0", "100 100", "200 200", "300 300"])
    #expect(bench.clock.pendingCount == 0)
  }

  @Test func `code that takes any Clock waits in virtual time`() throws {
    func twice<C: Clock>(on clock: C, _ body: () -> Void) async throws where C.Duration == Duration {
      for _ in 0..<2 {
        try await clock.sleep(for: .milliseconds(250))
        body()
      }
    }
    let bench = try Bench()
    bench.tasks.start {
      let spent = await bench.clock.virtual.measure { try? await twice(on: bench.clock.virtual) { bench.note("beat") } }
      bench.note("\(spent)")
    }
    bench.run(for: .seconds(1))
    #expect(bench.log == ["beat 250", "beat 500", "0.5 seconds 500"])
  }

  @Test func `a sleeping task that is cancelled goes on at once, with CancellationError`() throws {
    let bench = try Bench()
    let task = bench.tasks.start {
      do throws(CancellationError) {
        try await bench.clock.sleep(for: .seconds(60))
        bench.note("slept")
      } catch {
        bench.note("cancelled")
      }
    }
    bench.clock.schedule(after: .seconds(1)) { task.cancel() }
    bench.run(for: .seconds(5))
    #expect(bench.log == ["cancelled 1000"])
    #expect(bench.clock.pendingCount == 0)
  }

  @Test func `shutdown ends every task before it returns, and what is started later never begins`() throws {
    let bench = try Bench()
    let (texts, feed) = AsyncStream.makeStream(of: String.self)
    bench.tasks.start {
      for await text in texts { bench.note(text) }
      bench.note("no more texts")
    }
    bench.tasks.start {
      try? await bench.clock.sleep(for: .seconds(60))
      bench.note("awake")
      bench.tasks.start { bench.note("never") }
    }
    feed.yield("hello")
    bench.run(for: .seconds(1))
    #expect(bench.tasks.openCount == 2)
    bench.tasks.shutDown()
    #expect(bench.log.prefix(1) == ["hello 0"])
    #expect(bench.log.dropFirst().sorted() == ["awake 1000", "no more texts 1000"])
    #expect(bench.tasks.openCount == 0)
    #expect(bench.clock.pendingCount == 0)
    bench.tasks.start { bench.note("never") }
    bench.run(for: .seconds(120))
    #expect(bench.log.count == 3)
    #expect(bench.tasks.openCount == 0)
  }

  @Test func `a task that does not end by cancellation is counted after shutdown`() throws {
    let bench = try Bench()
    var resume: (() -> Void)?
    bench.tasks.start { await withUnsafeContinuation { waiting in resume = { waiting.resume() } } }
    bench.run(for: .seconds(1))
    bench.tasks.shutDown()
    #expect(bench.tasks.openCount == 1)
    resume?()
    bench.run(for: .milliseconds(1))
    #expect(bench.tasks.openCount == 0)
  }

  @Test func `a stream that callbacks feed is read in the order of the callbacks`() throws {
    let bench = try Bench()
    let (numbers, feed) = AsyncStream.makeStream(of: Int.self)
    bench.tasks.start {
      for await number in numbers {
        bench.note("\(number)")
        try? await bench.clock.sleep(for: .milliseconds(15))
      }
      bench.note("end")
    }
    for number in 1...3 {
      bench.clock.schedule(after: .milliseconds(10 * Int64(number))) {
        feed.yield(number)
        if number == 3 { feed.finish() }
      }
    }
    bench.run(for: .seconds(1))
    #expect(bench.log == ["1 10", "2 25", "3 40", "end 55"])
  }

  @Test func `child tasks, task groups, actors and other tasks stay on the run's thread`() throws {
    actor Counter {
      private(set) var count = 0
      func add() { count += 1 }
    }
    let bench = try Bench()
    let counter = Counter()
    bench.tasks.start {
      let clock = bench.clock.virtual
      async let first: Void? = try? clock.sleep(for: .milliseconds(20))
      await withTaskGroup(of: Void.self) { group in
        for delay in [10, 30] as [Int64] {
          group.addTask {
            try? await clock.sleep(for: .milliseconds(delay))
            await counter.add()
          }
        }
      }
      _ = await first
      let other = bench.tasks.start { try? await bench.clock.sleep(for: .milliseconds(5)) }
      await other.value
      bench.note("count \(await counter.count)")
    }
    bench.run(for: .seconds(1))
    #expect(bench.log == ["count 2 35"])
    #expect(bench.tasks.openCount == 0)
  }

  @Test func `an ended task lets go of all that its body holds`() throws {
    final class Held {}
    let bench = try Bench()
    weak var held: Held?
    do {
      let object = Held()
      held = object
      bench.tasks.start { _ = object }
    }
    bench.run(for: .milliseconds(1))
    #expect(held == nil)
    do {
      let object = Held()
      held = object
      bench.tasks.shutDown()
      bench.tasks.start { _ = object }
    }
    bench.run(for: .milliseconds(1))
    #expect(held == nil)
  }

  @Test func `what another thread resumes traps`() async {
    await #expect(processExitsWith: .failure) {
      let bench = try Bench()
      bench.tasks.start { await Task.detached { try? await Task.sleep(for: .milliseconds(100)) }.value }
      bench.run(for: .milliseconds(1))
      // While this thread is busy the detached task ends on another, which enqueues the rest of the body.
      Self.blockThread()
    }
  }

  private static func blockThread() { Thread.sleep(forTimeInterval: 10) }

  @Test func `a peer's clock that is awaited on another thread traps`() async {
    await #expect(processExitsWith: .failure) {
      nonisolated(unsafe) let clock = try Bench().clock
      await Task.detached { try? await clock.sleep(for: .seconds(1)) }.value
    }
  }
}
