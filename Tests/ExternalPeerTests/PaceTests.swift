import CallCore
import ExternalRecords
import Foundation
import SimNet
import Testing

@testable import ExternalPeer

@Suite struct RealTimePaceTests {
  private final class TimedHost: HostDelegate {
    var fired: [UInt64] = []
    func interfacesChanged() {}
    func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {}
    func timerFired(_ token: UInt64) { fired.append(token) }
  }

  private let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
  private let delegate = TimedHost()

  @Test func `virtual time takes as long as it says, and timers keep their order`() throws {
    let host = try simulator.addHost("a", delegate: delegate)
    for (token, time) in [(1, 12), (2, 4), (3, 20), (4, 400)] {
      _ = simulator.schedule(host, at: .zero + .milliseconds(Int64(time)), token: UInt64(token))
    }
    let start = MonotonicClock.now
    let pace = RealTimePace(simulator)
    pace.run(until: .zero + .milliseconds(25))
    #expect(delegate.fired == [2, 1, 3])
    #expect(MonotonicClock.now - start >= .milliseconds(25))
    #expect(simulator.now == .zero + .milliseconds(25))
    #expect(pace.lag.maximum < MonotonicClock.now - start)
  }

  @Test func `what is said meanwhile is heard at the time it was said, not at the next event`() throws {
    let pace = RealTimePace(simulator)
    let pipe = try ProgramPipe()
    var heard: [Instant] = []
    pace.watch(pipe.readEnd) { [simulator] in
      _ = pipe.read()
      heard.append(simulator.now)
    }
    pipe.write([1])
    pace.run(until: .zero + .milliseconds(500))
    #expect(heard.count == 1)
    #expect(try #require(heard.first) < .zero + .milliseconds(500))
    pace.unwatch(pipe.readEnd)
    pipe.write([2])
    pace.run(until: .zero + .milliseconds(510))
    #expect(heard.count == 1)
  }

  private final class Unwatcher: HostDelegate {
    var fire: () -> Void = {}
    func interfacesChanged() {}
    func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {}
    func timerFired(_ token: UInt64) { fire() }
  }

  @Test func `an event that takes a source away has nobody else called in its place`() throws {
    let unwatcher = Unwatcher()
    let host = try simulator.addHost("a", delegate: unwatcher)
    let pace = RealTimePace(simulator)
    let pipes = [try ProgramPipe(), try ProgramPipe()]
    var heard: [Int] = []
    for (index, pipe) in pipes.enumerated() {
      pipe.write([1])
      ProgramPipe.makeNonBlocking(pipe.readEnd)
      pace.watch(pipe.readEnd) { [simulator] in
        _ = pipe.read()
        heard.append(index)
        unwatcher.fire = { pace.unwatch(pipes[1 - index].readEnd) }
        _ = simulator.schedule(host, at: simulator.now, token: 0)
      }
    }
    pace.run(until: .zero + .milliseconds(200))
    #expect(heard.count == 1)
    for pipe in pipes { pace.unwatch(pipe.readEnd) }
  }

  @Test func `the lag is that of the event the clock had passed by most`() {
    var lag = LagRecord()
    #expect(lag.quantile(0.99) == .zero && lag.maximum == .zero)
    for index in 1...100 { lag.add(.milliseconds(Int64(index)), at: .zero + .seconds(Int64(index))) }
    #expect(lag.maximum == .milliseconds(100))
    #expect(lag.worst == .zero + .seconds(100))
    #expect(lag.quantile(0.5) >= .milliseconds(50) && lag.quantile(0.5) < .milliseconds(51))
    #expect(lag.quantile(0.99) >= .milliseconds(99) && lag.quantile(0.99) <= .milliseconds(100))
    lag.add(.seconds(30), at: .zero)
    #expect(lag.quantile(1) == .seconds(30))
    lag.add(.seconds(-1), at: .zero)
    #expect(lag.maximum == .seconds(30))
  }
}

@Suite struct WaitRecordTests {
  private var record = WaitRecord()

  /// Tells the totals of one thread, a look after the other.
  private mutating func look(_ totals: [Int64], thread: String = "1", of program: String = "alice") {
    for (index, total) in totals.enumerated() {
      record.add(.milliseconds(total), thread: thread, of: program, at: .zero + WaitRecord.period * Int64(index))
    }
  }

  @Test mutating func `how long a program waited before it was first looked at does not count`() {
    look([9_000, 9_000, 9_010])
    let entry = WaitRecord.Entry(program: "alice", longest: .milliseconds(10), latest: .zero + .milliseconds(500))
    #expect(record.entries == [entry])
  }

  @Test mutating func `a wait that lies across a look counts as a whole, and no more than the window`() {
    look([0, 0, 70, 130, 130, 140])
    #expect(record.entries.map(\.longest) == [.milliseconds(130)])
    #expect(record.entries.map(\.latest.nanoseconds) == [750_000_000])
  }

  @Test mutating func `the thread that waited longest speaks for its program, and each program for itself`() {
    look([0, 20], thread: "1")
    look([0, 60], thread: "2")
    look([0, 40], thread: "3", of: "bob")
    #expect(record.entries.map(\.program) == ["alice", "bob"])
    #expect(record.entries.map(\.longest) == [.milliseconds(60), .milliseconds(40)])
  }

  @Test mutating func `a thread that another process has the number of now waited nothing less than nothing`() {
    look([500, 3, 5])
    #expect(record.entries.map(\.longest) == [.milliseconds(2)])
  }

  @Test mutating func `the first stop of a program is kept`() {
    record.addStop(of: "alice", at: .zero + .seconds(3))
    record.addStop(of: "alice", at: .zero + .seconds(4))
    #expect(record.entries == [WaitRecord.Entry(program: "alice", stopped: .zero + .seconds(3))])
  }

  @Test func `a stopped process is told from one that sleeps, and threads have their waits told`() throws {
    let program = try ChildProgram(["sleep", "60"], environment: ChildProgram.environment(with: []), in: nil)
    let supervisor = try #require(program.processNumber)
    let process = try #require(ProcessTree.children(of: supervisor).first)
    #expect(ProcessTree.threads(of: process) == [process])
    #expect(ProcessTree.waited(process, thread: process) != nil)
    #expect(!ProcessTree.isStopped(process))
    // In force before kill(2) returns, but for what the kernel still has to do on another processor.
    kill(process, SIGSTOP)
    let watch = StarvationWatch()
    watch.add(program, named: "alice")
    while watch.record.entries.first?.stopped == nil { watch.look(at: .zero + .seconds(1)) }
    #expect(watch.record.entries.first?.program == "alice")
    program.stop(timeout: .zero)
    #expect(program.processNumber == nil)
  }
}

@Suite struct RecordingTailTests {
  @Test func `a recording is listened to while it grows`() throws {
    let path = NSTemporaryDirectory() + "callsim-tail-\(UUID().uuidString).wav"
    defer { unlink(path) }
    let tail = RecordingTail(path: path)
    #expect(!tail.isLoud())
    var header = [UInt8]("RIFF\0\0\0\0WAVEfmt \u{10}\0\0\0".utf8)
    header += [UInt8](repeating: 1, count: 16)
    header += [UInt8]("data\0\0\0\0".utf8)
    let silence = [UInt8](repeating: 0, count: 1_920)
    let sound = [[UInt8]](repeating: [0, 8, 255, 247], count: 480).flatMap { $0 }
    _ = FileManager.default.createFile(atPath: path, contents: Data(header[..<20]))
    let file = try #require(FileHandle(forWritingAtPath: path))
    file.seekToEndOfFile()
    #expect(!tail.isLoud())
    file.write(Data(header[20...] + silence))
    #expect(!tail.isLoud())
    file.write(Data(silence + sound[..<700]))
    #expect(!tail.isLoud())
    file.write(Data(sound[700...]))
    #expect(tail.isLoud())
    #expect(!tail.isLoud())
  }
}
