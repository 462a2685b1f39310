import Foundation
import Testing

@testable import LivePeer

@Suite struct LineReaderTests {
  /// What is called for `input`, when the line `last` is the one to stop after.
  private static func calls(for input: String, stoppingAfter last: String? = nil) -> [String] {
    let (loop, pipe) = (SocketLoop(), Pipe())
    pipe.fileHandleForWriting.write(Data(input.utf8))
    pipe.fileHandleForWriting.closeFile()
    var calls: [String] = []
    var reader: LineReader?
    // It and its closure hold each other.
    defer { reader = nil }
    reader = LineReader(
      pipe.fileHandleForReading.fileDescriptor, loop: loop,
      line: { (line: String) in
        calls.append(line)
        if line == last { reader?.stop() }
      }, end: { calls.append($0 == .endOfInput ? "end" : "too long") })
    // All of it is there: a turn reads it, and the next one finds the end. The timer keeps a third from waiting.
    let timer = loop.makeTimer {}
    for _ in 0..<3 {
      timer.deadline = loop.now
      loop.turn()
    }
    loop.remove(timer)
    return calls
  }

  @Test func `the last line needs no end, and the end comes after it`() {
    #expect(Self.calls(for: "a\n\n \nb") == ["a", "b", "end"])
  }

  @Test(arguments: ["a\nb", "a\nb\n", "a\nb\nc\n"])
  func `nothing is called any more once it was stopped, be it by the last line`(input: String) {
    #expect(Self.calls(for: input, stoppingAfter: "b") == ["a", "b"])
  }

  @Test func `a line without an end is not kept for ever, and is no line`() throws {
    let (loop, pipe) = (SocketLoop(), Pipe())
    var calls: [String] = []
    let reader = LineReader(
      pipe.fileHandleForReading.fileDescriptor, loop: loop, line: { (line: String) in calls.append("line") },
      end: { calls.append("\($0)") })
    let chunk = Data(repeating: UInt8(ascii: "x"), count: 65_536)
    for _ in 0...LineReader.longestLine / chunk.count {
      pipe.fileHandleForWriting.write(chunk)
      loop.turn()
    }
    #expect(calls == ["lineTooLong"])
    reader.stop()
  }
}
