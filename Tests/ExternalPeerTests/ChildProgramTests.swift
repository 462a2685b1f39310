import CallCore
import Glibc
import Testing

@testable import ExternalPeer

/// What a program writes, as lines.
@Suite struct ChildProgramTests {
  private static func program(_ script: String, lineLimit: Int = 1_000) throws -> ChildProgram {
    try ChildProgram(
      ["/bin/sh", "-c", script], environment: ChildProgram.inheritedEnvironment, in: nil, lineLimit: lineLimit)
  }

  private static func lines(of program: ChildProgram) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    while let line = program.nextLine() { lines.append(line) }
    return lines
  }

  /// Until its output is closed, by it or by us.
  private static func hear(_ program: ChildProgram) {
    while program.isOutputOpen {
      program.wait(.seconds(1))
      program.receive()
    }
  }

  @Test func `lines come whole, however they were written`() throws {
    let program = try Self.program("printf 'one\\ntw'; read a; printf 'o\\n\\nthree\\n'")
    var lines: [[UInt8]] = []
    while program.isOutputOpen {
      program.wait(.seconds(1))
      program.receive()
      lines += Self.lines(of: program)
      if lines.count == 1 { program.send("go on") }
    }
    #expect(lines == ["one", "two", "", "three"].map { Array($0.utf8) })
  }

  @Test func `many lines at once are no line that is too long`() throws {
    let program = try Self.program("yes 0123456789 | head -n 20000")
    Self.hear(program)
    #expect(Self.lines(of: program).count == 20_000)
  }

  @Test func `a line that is too long ends what is listened to`() throws {
    let program = try Self.program("echo short; head -c 2000 /dev/zero; read a")
    Self.hear(program)
    #expect(Self.lines(of: program) == [Array("short".utf8)])
    #expect(program.reap() == nil)
  }

  @Test func `whoever has much to say is heard in parts`() throws {
    let program = try Self.program("read a; yes 0123456789 | head -c 1000000")
    // F_SETPIPE_SZ, so that it can say all of it before anybody listens.
    #expect(fcntl(program.outputDescriptor, 1_031, 1 << 20) >= 1 << 20)
    program.send("go on")
    while program.reap() == nil { program.wait(.seconds(1)) }
    program.receive()
    let most = ChildProgram.readLimit << 16
    #expect(Self.lines(of: program).count <= most / 11)
    Self.hear(program)
    #expect(Self.lines(of: program).count >= (1_000_000 - most) / 11)
  }
}
