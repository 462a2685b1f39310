internal import CallCore

/// Datagrams that wait for `transmit`, in one byte buffer that is reused after every drain.
struct DatagramOutbox {
  private var bytes: [UInt8] = []
  private var entries = FIFO<(range: Range<Int>, path: Path)>()

  /// Appends the datagram that `write` writes. One that exceeds ``maximumDatagramSize`` is dropped, as on a network:
  /// only a realm and a nonce that both have the maximum length lead to that.
  mutating func append(on path: Path, _ write: (inout [UInt8]) -> Void) {
    let start = bytes.count
    write(&bytes)
    if bytes.count - start <= maximumDatagramSize {
      entries.append((start..<bytes.count, path))
    } else {
      bytes.removeLast(bytes.count - start)
    }
  }

  mutating func append(_ datagram: [UInt8], on path: Path) {
    append(on: path) { $0.append(contentsOf: datagram) }
  }

  mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    guard let entry = entries.popFirst() else { return nil }
    buffer.append(contentsOf: bytes.span.bytes.extracting(entry.range))
    if entries.isEmpty { bytes.removeAll(keepingCapacity: true) }
    return entry.path
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll()
  }
}
