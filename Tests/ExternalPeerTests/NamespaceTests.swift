import CallCore
import ExternalRecords
import Foundation
import SimNet
import Testing

@testable import ExternalPeer

/// These need what only root has; elsewhere they are not run, and ``ExternalSupport`` says why.
@Suite(.enabled(if: ExternalSupport.problem == nil)) struct NamespaceTests {
  private static func output(_ command: [String], in space: NetworkNamespace) throws -> (String, ChildProgram.Ending?) {
    let program = try ChildProgram(command, environment: ChildProgram.inheritedEnvironment, in: space)
    while program.isOutputOpen {
      program.receive()
      if program.isOutputOpen { program.wait(.seconds(1)) }
    }
    var text = ""
    while let line = program.nextLine() { text += String(decoding: line, as: UTF8.self) + "\n" }
    program.stop(timeout: .seconds(2))
    return (text, program.ending)
  }

  @Test func `a namespace has nothing but its tunnels`() throws {
    let space = try NetworkNamespace()
    let tunnel = try space.openTunnel("wlan0")
    try space.configure(["link set dev wlan0 up", "addr add 198.18.0.2/24 dev wlan0", "route add default dev wlan0"])
    let (links, ending) = try Self.output(["ip", "-o", "link"], in: space)
    #expect(ending == .exit(0))
    let names = links.split(separator: "\n").map { $0.split(separator: " ")[1] }
    #expect(Set(names).isSubset(of: ["lo:", "wlan0:", "sit0@NONE:", "ip6tnl0@NONE:", "tunl0@NONE:"]), "\(links)")
    #expect(tunnel.name == "wlan0")
  }

  @Test func `a kernel that is asked for nonsense says what it did not like`() throws {
    let space = try NetworkNamespace()
    #expect {
      try space.configure(["link set dev nosuch0 up"])
    } throws: { ($0 as? ExternalError)?.description.contains("nosuch0") == true }
  }

  /// A shell that starts one who leaves its session and its process group, and goes on to `then`.
  private static func parent(_ mark: String, then: String, in space: NetworkNamespace) throws -> ChildProgram {
    let program = try ChildProgram(
      ["/bin/sh", "-c", "setsid sleep \(mark) & sleep 0.1; echo started; \(then)"],
      environment: ChildProgram.inheritedEnvironment, in: space)
    var isStarted = false
    while !isStarted, program.reap() == nil {
      program.wait(.seconds(1))
      program.receive()
      isStarted = program.nextLine() != nil
    }
    return program
  }

  private static func isRunning(_ mark: String) throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
      Int(name) != nil && FileManager.default.contents(atPath: "/proc/\(name)/cmdline") == Data("sleep\0\(mark)\0".utf8)
    }
  }

  @Test func `whom a program has started is gone when it was stopped`() throws {
    let mark = "60.\(UInt32.random(in: 0...UInt32.max))"
    let program = try Self.parent(mark, then: "wait", in: try NetworkNamespace())
    #expect(try Self.isRunning(mark))
    program.stop(timeout: .zero)
    #expect(program.ending == .signal(9))
    #expect(try !Self.isRunning(mark))
  }

  @Test func `the end of a program does not wait for whom it has started, who end with it`() throws {
    let mark = "60.\(UInt32.random(in: 0...UInt32.max))"
    let program = try Self.parent(mark, then: "exit 4", in: try NetworkNamespace())
    #expect(program.awaitEnd() == .exit(4))
    program.stop(timeout: .zero)
    #expect(program.ending == .exit(4))
    #expect(try !Self.isRunning(mark))
  }

  @Test func `a program that a signal ends is told with it, and sees no processes but its own`() throws {
    let (processes, ending) = try Self.output(
      ["/bin/sh", "-c", "ls /proc | grep -c '^[0-9]'; kill -SEGV $$"], in: try NetworkNamespace())
    #expect(ending == .signal(11))
    // The supervisor, the shell, and what it runs.
    #expect(try #require(Int(processes.dropLast())) <= 5, "\(processes)")
  }

  @Test func `packets of a program cross the simulated wire and come back`() throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("198.18.0.0/24")!, IPPrefix("2001:db8::/64")!])
    let echo = Echo(simulator)
    let server = try simulator.addHost("server", delegate: echo)
    try simulator.attach(server, to: network, link: "server")
    _ = try simulator.bind(server, port: 7)
    let host = try simulator.addHost("program")
    try simulator.attach(
      host, to: network, link: "air", type: .wifi, tx: LinkSettings(delay: .milliseconds(15)),
      rx: LinkSettings(delay: .milliseconds(15)))
    let pace = RealTimePace(simulator)
    let bridge = try ExternalHost("program", host: host, of: simulator, pace: pace)
    bridge.show(simulator.interfaces(of: host))
    #expect(bridge.failure == nil)
    for address in simulator.interfaces(of: server)[0].addresses {
      let script = """
        import socket, sys, time
        family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET
        s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(20)
        began = time.monotonic(); s.sendto(b'hello', (sys.argv[1], 7)); data = s.recv(99)
        sys.exit(0 if data == b'hello' and time.monotonic() - began >= 0.03 else 1)
        """
      let program = try ChildProgram(
        ["python3", "-c", script, "\(address)"], environment: ChildProgram.inheritedEnvironment, in: bridge.space)
      while program.reap() == nil, simulator.now < .zero + .seconds(60) {
        pace.run(until: simulator.now + .milliseconds(20))
      }
      #expect(program.reap() == .exit(0), "\(address)")
    }
    bridge.tearDown()
  }

  @Test func `media that a program sends once its connection is closed are not carried, and all else is`() throws {
    let simulator = Simulator(trace: Trace(), random: RandomSource(seed: 1))
    let network = try simulator.addNetwork("lan", prefixes: [IPPrefix("198.18.0.0/24")!])
    let echo = Echo(simulator)
    let server = try simulator.addHost("server", delegate: echo)
    try simulator.attach(server, to: network, link: "server")
    _ = try simulator.bind(server, port: 7)
    let host = try simulator.addHost("program")
    try simulator.attach(host, to: network, link: "air")
    let pace = RealTimePace(simulator)
    let bridge = try ExternalHost("program", host: host, of: simulator, pace: pace)
    bridge.show(simulator.interfaces(of: host))
    let script = """
      import socket, sys
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3)
      media = bytes([0x80, 111]) + bytes(30)
      for data in (media, b'hello'): s.sendto(data, (sys.argv[1], 7))
      sys.exit(0 if s.recv(99) == media else 1)
      """
    let address = try #require(simulator.interfaces(of: server).first?.addresses.first)
    func play() throws -> ChildProgram.Ending? {
      let program = try ChildProgram(
        ["python3", "-c", script, "\(address)"], environment: ChildProgram.inheritedEnvironment, in: bridge.space)
      while program.reap() == nil { pace.run(until: simulator.now + .milliseconds(10)) }
      return program.ending
    }
    bridge.connectionOpened()
    #expect(try play() == .exit(0))
    bridge.connectionClosed()
    #expect(try play() == .exit(1))
    bridge.connectionOpened()
    #expect(try play() == .exit(0))
    bridge.tearDown()
  }

  private final class Echo: HostDelegate {
    unowned let simulator: Simulator
    init(_ simulator: Simulator) { self.simulator = simulator }
    func interfacesChanged() {}
    func timerFired(_ token: UInt64) {}
    func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) {
      simulator.send(datagram, from: socket, to: path.remote)
    }
  }
}
