import CallCore
import SimNet
import Testing
import Vocabulary

@testable import VirtualPeer

@Suite struct SignallingFaultsTests {
  private final class Bench {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    let faults: SignallingFaults
    private let runtime: HostRuntime
    var delivered: [(time: Instant, text: String)] = []
    /// Whether the connections take no more messages.
    var isOver = false
    var texts: [String] { delivered.map(\.text) }

    init() throws {
      let host = try simulator.addHost("server")
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      faults = SignallingFaults(clock: runtime.clock, trace: simulator.trace, subject: "server")
    }

    func pass(_ text: String, type: String = "offer", from: String = "alice", to: String = "bob") {
      let message = SignallingMessage(type: type, from: from, to: to, text: text)
      faults.pass(
        message, on: .init(socket: to == "bob" ? 1 : 2, isToClient: true), isOpen: { [unowned self] in !isOver }
      ) {
        [unowned self] message in
        if isOver { return false }
        delivered.append((simulator.now, message.text))
        return true
      }
    }

    func run(for interval: Interval) { simulator.run(until: simulator.now + interval) }
  }

  @Test func `a dropped message is gone, and only as many as the fault counts`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.drop, count: 2))
    for text in ["1", "2", "3"] { bench.pass(text) }
    #expect(bench.texts == ["3"])
  }

  @Test func `a delayed message is overtaken`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.delay(.milliseconds(300)), count: 1))
    bench.pass("1")
    bench.pass("2")
    bench.run(for: .seconds(1))
    #expect(bench.texts == ["2", "1"])
    #expect(bench.delivered.last?.time == .zero + .milliseconds(300))
  }

  @Test func `a duplicated message comes twice`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.duplicate, count: 1))
    bench.pass("1")
    bench.pass("2")
    #expect(bench.texts == ["1", "1", "2"])
  }

  @Test func `a message that does not leave overtakes nothing`() throws {
    for fault in [SignallingFault(.drop, type: "candidate"), SignallingFault(.delay(.seconds(3)), type: "candidate")] {
      let bench = try Bench()
      let reorder = bench.faults.add(SignallingFault(.reorder, type: "offer"))
      bench.faults.add(fault)
      bench.pass("1")
      bench.pass("2", type: "candidate")
      #expect(bench.texts == [])
      #expect(bench.faults.meetings(of: reorder) == 0)
      bench.run(for: .milliseconds(1_500))
      #expect(bench.texts == ["1"])
    }
  }

  @Test func `a transport frame overtakes no message`() throws {
    let bench = try Bench()
    let reorder = bench.faults.add(SignallingFault(.reorder, type: "offer"))
    let content = MessageContent("offer")
    bench.faults.pass(
      SignallingMessage(type: "offer", from: "alice", to: "bob", text: "1", content: content),
      on: .init(socket: 1, isToClient: true)
    ) {
      bench.delivered.append((.zero, $0.text))
      return true
    }
    bench.pass("2", type: "ping")
    #expect(bench.texts == ["2"])
    #expect(bench.faults.meetings(of: reorder) == 0)
  }

  @Test func `a message that two faults have held meets a later one once`() throws {
    let bench = try Bench()
    for _ in 0..<2 { bench.faults.add(SignallingFault(.delay(.seconds(2)))) }
    bench.pass("1")
    bench.run(for: .seconds(1))
    bench.faults.add(SignallingFault(.duplicate))
    bench.faults.add(SignallingFault(.delay(.seconds(3))))
    bench.run(for: .seconds(20))
    #expect(bench.delivered.map(\.time.seconds) == [7, 7])
  }

  @Test func `each of two duplications adds one message`() throws {
    let bench = try Bench()
    for _ in 0..<2 { bench.faults.add(SignallingFault(.duplicate, count: 1)) }
    bench.pass("1")
    #expect(bench.texts == ["1", "1", "1"])
  }

  @Test func `a message meets every fault that is for it, oldest first`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.delay(.milliseconds(300))))
    bench.faults.add(SignallingFault(.duplicate, count: 1))
    bench.faults.add(SignallingFault(.delay(.milliseconds(200))))
    let drop = bench.faults.add(SignallingFault(.drop, type: "bye"))
    bench.faults.add(SignallingFault(.corrupt, type: "bye"))
    bench.pass("1")
    bench.pass("2")
    bench.pass("3", type: "bye")
    bench.run(for: .seconds(1))
    #expect(bench.texts == ["1", "1", "2"])
    #expect(bench.delivered.allSatisfy { $0.time == .zero + .milliseconds(500) })
    bench.faults.remove(drop)
    bench.pass("4", type: "bye")
    bench.run(for: .seconds(1))
    #expect(bench.texts.last == "\u{FFFD}")
  }

  @Test func `what an older fault loses counts for a younger one, which did nothing to it`() throws {
    let bench = try Bench()
    let older = bench.faults.add(SignallingFault(.drop, count: 2))
    let same = bench.faults.add(SignallingFault(.drop, count: 2))
    let longer = bench.faults.add(SignallingFault(.duplicate, count: 3))
    for text in ["1", "2", "3", "4"] { bench.pass(text) }
    #expect(bench.texts == ["3", "3", "4"])
    #expect([older, same, longer].map { bench.faults.meetings(of: $0) } == [2, 0, 1])
  }

  @Test func `reordering makes neighbours change places, again and again`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.reorder))
    for text in ["1", "2", "3", "4"] { bench.pass(text) }
    #expect(bench.texts == ["2", "1", "4", "3"])
  }

  @Test func `a held message that nothing overtakes comes a second late`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.reorder, count: 1))
    bench.pass("1")
    bench.pass("other", to: "carol")
    bench.run(for: .seconds(3))
    #expect(bench.texts == ["other", "1"])
    #expect(bench.delivered.last?.time == .zero + .seconds(1))
  }

  @Test func `two delayed messages that leave in their old order were not reordered`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.delay(.seconds(2))))
    let reorder = bench.faults.add(SignallingFault(.reorder, type: "offer"))
    bench.pass("1")
    bench.pass("2", type: "bye")
    bench.run(for: .milliseconds(2_500))
    #expect(bench.texts == ["2", "1"])
    #expect(bench.faults.meetings(of: reorder) == 1)
    bench.faults.add(SignallingFault(.delay(.seconds(2)), type: "bye"))
    bench.pass("3")
    bench.pass("4", type: "bye")
    bench.run(for: .seconds(5))
    #expect(bench.texts == ["2", "1", "3", "4"])
    #expect(bench.faults.meetings(of: reorder) == 1)
  }

  @Test func `two messages of one type change places after a delay`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.delay(.seconds(2)), count: 2))
    let reorder = bench.faults.add(SignallingFault(.reorder, count: 2))
    for text in ["1", "2"] { bench.pass(text) }
    bench.run(for: .seconds(5))
    #expect(bench.texts == ["2", "1"])
    #expect(bench.faults.meetings(of: reorder) == 1)
  }

  @Test func `a copy does not pass its original`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.duplicate))
    let reorder = bench.faults.add(SignallingFault(.reorder))
    bench.pass("1")
    bench.run(for: .seconds(3))
    #expect(bench.texts == ["1", "1"])
    #expect(bench.faults.meetings(of: reorder) == 0)
  }

  @Test func `what a newer fault takes on release does not show the older one`() throws {
    let bench = try Bench()
    let older = [SignallingFault(.delay(.seconds(1))), SignallingFault(.corrupt), SignallingFault(.duplicate)]
      .map { bench.faults.add($0) }
    bench.pass("1")
    let drop = bench.faults.add(SignallingFault(.drop))
    bench.run(for: .seconds(3))
    #expect(bench.texts == [])
    #expect(older.map { bench.faults.meetings(of: $0) } == [1, 0, 0])
    #expect(older.map { bench.faults.miss(of: $0) } == [nil, .taken, .taken])
    #expect(bench.faults.meetings(of: drop) > 0)
  }

  @Test func `a reordering whose message is taken on release is not met`() throws {
    let bench = try Bench()
    let reorder = bench.faults.add(SignallingFault(.reorder, count: 1))
    bench.pass("1")
    bench.faults.add(SignallingFault(.drop, type: "offer"))
    bench.pass("2", type: "bye")
    #expect(bench.texts == ["2"])
    #expect(bench.faults.meetings(of: reorder) == 0)
  }

  @Test func `what comes to a connection that is over shows no fault`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.delay(.seconds(1))))
    let corrupt = bench.faults.add(SignallingFault(.corrupt))
    bench.pass("1")
    bench.isOver = true
    bench.run(for: .seconds(3))
    #expect(bench.faults.meetings(of: corrupt) == 0)
    #expect(bench.faults.miss(of: corrupt) == .undeliverable)
  }

  @Test(
    arguments: [
      ([.empty, .truncated], [true, false]), ([.truncated, .empty], [false, true]),
      ([.doubled, .truncated], [false, false]),
      ([.truncated, .doubled], [true, true]), ([.padded, .padded], [true, true]),
    ] as [([FrameMutation], [Bool])])
  func `a change that others wrote over or undid is not met`(mutations: [FrameMutation], areMet: [Bool]) throws {
    let bench = try Bench()
    let faults = mutations.map { bench.faults.add(SignallingFault(.mutateFrame($0))) }
    bench.pass("abcd")
    #expect(faults.map { bench.faults.meetings(of: $0) > 0 } == areMet)
  }

  @Test func `of many changes those that are written over are not met`() throws {
    let bench = try Bench()
    let mutations: [FrameMutation] = [
      .truncated, .truncated, .truncated, .doubled, .padded, .nested, .doubled, .padded,
    ]
    let older = mutations.map { bench.faults.add(SignallingFault(.mutateFrame($0))) }
    let newer = [FrameMutation.empty, .padded].map { bench.faults.add(SignallingFault(.mutateFrame($0))) }
    bench.pass("abcdefgh")
    #expect(older.allSatisfy { bench.faults.meetings(of: $0) == 0 })
    #expect(newer.map { bench.faults.meetings(of: $0) } == [1, 1])
  }

  @Test func `a fault takes nothing from a connection that is over`() throws {
    let bench = try Bench()
    bench.isOver = true
    let drop = bench.faults.add(SignallingFault(.drop))
    bench.pass("1")
    #expect(bench.faults.meetings(of: drop) == 0)
    #expect(bench.faults.miss(of: drop) == .undeliverable)
  }

  @Test func `duplications that begin while copies are held add one message each`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.duplicate))
    bench.faults.add(SignallingFault(.delay(.seconds(1))))
    bench.pass("1")
    bench.faults.add(SignallingFault(.duplicate))
    bench.run(for: .seconds(3))
    #expect(bench.texts == ["1", "1", "1"])
  }

  @Test func `a black hole alone meets an upgrade that it hides`() throws {
    let bench = try Bench()
    let drop = bench.faults.add(SignallingFault(.drop))
    let blackhole = bench.faults.add(SignallingFault(.blackhole))
    bench.faults.hidden("upgrade")
    #expect([drop, blackhole].map { bench.faults.meetings(of: $0) } == [0, 1])
  }

  @Test func `the time for which a message is held includes what other faults add`() throws {
    let bench = try Bench()
    let delay = bench.faults.add(SignallingFault(.delay(.seconds(2))))
    bench.faults.add(SignallingFault(.delay(.seconds(3))))
    bench.pass("1")
    #expect(bench.faults.heldUntil(by: delay) == .zero + .seconds(5))
    bench.faults.add(SignallingFault(.reorder))
    #expect(bench.faults.heldUntil(by: delay) == .zero + .seconds(6))
  }

  @Test func `a corrupted message differs in one character`() throws {
    let bench = try Bench()
    bench.faults.add(SignallingFault(.corrupt, count: 1))
    bench.pass("abcde")
    #expect(bench.texts == ["ab\u{FFFD}de"])
  }

  @Test func `only messages of the named type, sender and receiver are touched`() throws {
    let bench = try Bench()
    let id = bench.faults.add(SignallingFault(.drop, type: "answer", from: "bob", to: "alice"))
    bench.pass("1", type: "answer")
    bench.pass("2", type: "offer", from: "bob", to: "alice")
    bench.pass("3", type: "answer", from: "bob", to: "alice")
    bench.faults.remove(id)
    bench.pass("4", type: "answer", from: "bob", to: "alice")
    #expect(bench.texts == ["1", "2", "4"])
  }
}
