import CallCore
import FuzzHarness
import VirtualPeer

/// Requests and responses in one direction of a connection; how they are cut must not matter.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    let bytes = input.copied
    let whole = run(bytes, pieces: max(1, bytes.count))
    require(run(bytes, pieces: 1) == whole, "single bytes are read differently")
    require(run(bytes, pieces: 5) == whole, "pieces are read differently")
    for message in whole.messages where message.header("transfer-encoding") == nil {
      let again = run(message.encoded, pieces: 1_000_000)
      require(again.messages == [message] && again.problem == nil, "a message does not survive: \(message)")
    }
    return whole.messages.count + (whole.problem == nil ? 0 : 1)
  }
}

private struct Outcome: Equatable {
  var messages: [HTTPMessage] = []
  var problem: HTTPProblem?
}

private func run(_ bytes: [UInt8], pieces: Int) -> Outcome {
  var parser = HTTPParser(bodyLimit: 500)
  var outcome = Outcome()
  do throws(HTTPProblem) {
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      parser.append(Array(bytes[start..<min(bytes.count, start + pieces)]))
      while let message = try parser.next() { outcome.messages.append(message) }
    }
  } catch {
    outcome.problem = error
  }
  return outcome
}
