package import CallCore

/// What a run came to. Nothing reads it, but it is visible from outside: work without an effect would be optimised away,
/// and nothing would be fuzzed.
package nonisolated(unsafe) var observed = 0

/// Hands the bytes of libFuzzer to `body`, which answers with anything that depends on what it did.
package func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int, _ body: (RawSpan) -> Int) -> CInt {
  observed &+= body(UnsafeRawBufferPointer(start: start, count: count).bytes)
  return 0
}

/// Ends the run, so that libFuzzer keeps the input, when something that must hold does not.
package func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError(what()) }
}

/// Collects what a sans-IO machine wants to send.
package struct Datagrams: ~Copyable {
  private let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

  package init() {}

  deinit { memory.deallocate() }

  /// The datagrams that `write` gives until it has no more.
  package func drain(_ write: (inout OutputSpan<UInt8>) -> Path?) -> [(bytes: [UInt8], path: Path)] {
    var result: [(bytes: [UInt8], path: Path)] = []
    while true {
      var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
      guard let path = write(&output) else { return result }
      result.append((output.span.bytes.copied, path))
    }
  }
}
