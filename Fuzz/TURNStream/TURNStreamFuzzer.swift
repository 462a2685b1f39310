import CallCore
import FuzzHarness
import TURN

/// However a stream is cut, the same messages come out, and it is broken at the same place.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURNStream(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    let whole = messages(in: input, pieces: [])
    let bytes = input.copied
    for sizes in [[1], [3], [Int(bytes.first ?? 0) + 1, 7]] {
      require(messages(in: input, pieces: sizes) == whole, "pieces of \(sizes) read differently")
    }
    return whole.messages.count
  }
}

private struct Outcome: Equatable {
  var messages: [[UInt8]] = []
  var isBroken = false
}

/// What comes out when the stream arrives in pieces of these sizes, over and over; all at once without any.
private func messages(in stream: RawSpan, pieces: [Int]) -> Outcome {
  var framer = TURNStreamFramer()
  var outcome = Outcome()
  var (offset, turn) = (0, 0)
  while offset < stream.byteCount {
    let size = pieces.isEmpty ? stream.byteCount : pieces[turn % pieces.count]
    let end = min(stream.byteCount, offset + size)
    let isFine = framer.receive(stream.extracting(offset..<end)) { outcome.messages.append($0.copied) }
    (offset, turn) = (end, turn + 1)
    if !isFine { break }
  }
  outcome.isBroken = framer.isBroken
  return outcome
}
