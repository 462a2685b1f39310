import CallCore

/// Reorders arriving bytes, and holds them while the application does not read.
struct ReceiveQueue {
  private struct Piece {
    var sequence: SequenceNumber
    var bytes: [UInt8]
  }

  /// The next byte expected in order.
  private(set) var next: SequenceNumber
  private let capacity: Int
  /// Pieces beyond a hole, by sequence number.
  private var pieces: [Piece] = []
  private var held: [UInt8] = []
  /// The sequence number of the peer's FIN, once seen.
  private var fin: SequenceNumber?

  init(next: SequenceNumber, capacity: Int) {
    self.next = next
    self.capacity = capacity
  }

  /// The number of bytes that the peer may send beyond ``next``.
  var window: Int { max(capacity - held.count, 0) }
  var hasHole: Bool { !pieces.isEmpty }
  var finIsNext: Bool { fin == next }

  mutating func setFin(at sequence: SequenceNumber) { fin = sequence }
  mutating func consumeFin() {
    fin = nil
    next = next + 1
  }

  /// Inserts the payload of a segment and returns whether new bytes are in order; bytes received before and bytes
  /// beyond the window are cut off.
  mutating func insert(_ segment: RawSpan, payloadFrom offset: Int, at sequence: SequenceNumber) -> Bool {
    let stale = max(next - sequence, 0)
    let lower = offset + stale
    let upper = min(segment.byteCount, offset + max(next + window - sequence, 0))
    guard lower < upper, let bytes = segment.bytes(in: lower..<upper) else { return false }
    let first = sequence + stale
    guard first == next else {
      keep(Piece(sequence: first, bytes: bytes))
      return false
    }
    accept(bytes)
    joinPieces()
    return true
  }

  /// Returns and removes all bytes in order.
  mutating func take() -> [UInt8] {
    defer { held = [] }
    return held
  }

  var hasReadyBytes: Bool { !held.isEmpty }

  private mutating func accept(_ bytes: [UInt8]) {
    next = next + bytes.count
    if held.isEmpty { held = bytes } else { held += bytes }
  }

  private mutating func keep(_ piece: Piece) {
    var index = pieces.count
    while index > 0, pieces[index - 1].sequence > piece.sequence { index -= 1 }
    if index > 0, pieces[index - 1].sequence == piece.sequence {
      if pieces[index - 1].bytes.count < piece.bytes.count { pieces[index - 1] = piece }
      return
    }
    pieces.insert(piece, at: index)
  }

  private mutating func joinPieces() {
    var used = 0
    while used < pieces.count, pieces[used].sequence <= next {
      let stale = next - pieces[used].sequence
      if stale < pieces[used].bytes.count { accept(Array(pieces[used].bytes[stale...])) }
      used += 1
    }
    pieces.removeFirst(used)
  }
}
