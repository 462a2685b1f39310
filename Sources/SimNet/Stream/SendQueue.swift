/// The bytes an application wrote that are not yet acknowledged, addressed by sequence number.
struct SendQueue {
  private var storage: [UInt8] = []
  private var start = 0
  /// The sequence number of the first byte.
  private(set) var base: SequenceNumber

  init(base: SequenceNumber) { self.base = base }

  var count: Int { storage.count - start }
  /// One past the last byte.
  var end: SequenceNumber { base + count }

  mutating func append(_ bytes: [UInt8]) { storage += bytes }

  /// Appends up to `count` bytes from `sequence` on to a segment under construction.
  func write(from sequence: SequenceNumber, count: Int, into buffer: inout OutputSpan<UInt8>) {
    let first = start + max(sequence - base, 0)
    for index in first..<min(first + count, storage.count) { buffer.append(storage[index]) }
  }

  /// Removes everything before `sequence`.
  mutating func acknowledge(upTo sequence: SequenceNumber) {
    let dropped = min(max(sequence - base, 0), count)
    start += dropped
    base = base + dropped
    if start == storage.count {
      storage.removeAll(keepingCapacity: true)
      start = 0
    } else if start >= 65_536, start * 2 >= storage.count {
      storage.removeFirst(start)
      start = 0
    }
  }

  mutating func removeAll() {
    base = end
    storage.removeAll()
    start = 0
  }
}
