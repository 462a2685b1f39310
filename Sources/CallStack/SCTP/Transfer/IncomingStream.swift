/// A fragment that waits for the rest of its message, or for the messages before it.
struct WaitingFragment: Sendable {
  var tsn: Int64
  var chunk: DataChunk

  /// Whether the fragment follows another in one message.
  func continues(_ other: WaitingFragment) -> Bool {
    tsn == other.tsn + 1 && chunk.stream == other.chunk.stream && chunk.ssn == other.chunk.ssn
      && !chunk.flags.contains(.beginning) && !other.chunk.flags.contains(.end)
  }
}

extension [WaitingFragment] {
  /// Inserts a fragment by its TSN and returns its index. Fragments mostly come in order.
  mutating func insert(inOrder fragment: WaitingFragment) -> Int {
    var (low, high) = (0, count)
    if let last, last.tsn < fragment.tsn { low = high }
    while low < high {
      let middle = (low + high) / 2
      if self[middle].tsn < fragment.tsn { low = middle + 1 } else { high = middle }
    }
    insert(fragment, at: low)
    return low
  }
}

extension ArraySlice<WaitingFragment> {
  /// Appends the message of these fragments, and returns their size in the queue.
  func assemble(to messages: inout [SCTPMessage]) -> Int {
    guard let first else { return 0 }
    var payload: [UInt8] = []
    var size = 0
    payload.reserveCapacity(reduce(0) { $0 + $1.chunk.payload.count })
    for fragment in self {
      payload += fragment.chunk.payload
      size += ReassemblyQueue.size(of: fragment.chunk)
    }
    messages.append(SCTPMessage(stream: first.chunk.stream, ppid: first.chunk.ppid, payload: payload))
    return size
  }
}

/// The waiting ordered fragments of one incoming stream.
struct IncomingStream: Sendable {
  /// The fragments in the order of their TSNs, which is that of their messages.
  private var fragments: [WaitingFragment] = []
  /// The number of first fragments that are known to continue each other from the beginning of a message.
  private var contiguous = 0
  private var nextSSN: UInt16 = 0

  /// The size of all fragments in the queue.
  var size: Int { fragments.reduce(0) { $0 + ReassemblyQueue.size(of: $1.chunk) } }

  /// Takes a fragment, appends the messages that are complete now, and returns the size of the fragments that are gone.
  mutating func add(_ chunk: DataChunk, tsn: Int64, to messages: inout [SCTPMessage]) -> Int {
    // A message that was delivered or skipped.
    guard !chunk.ssn.precedes(nextSSN) else { return ReassemblyQueue.size(of: chunk) }
    let index = fragments.insert(inOrder: WaitingFragment(tsn: tsn, chunk: chunk))
    if index < contiguous { contiguous = 0 }
    return deliver(to: &messages)
  }

  /// Skips messages up to one, appends those that need not wait any more, and returns the size of the fragments that
  /// are gone.
  mutating func skip(to ssn: UInt16, messages: inout [SCTPMessage]) -> Int {
    guard !ssn.precedes(nextSSN) else { return 0 }
    let next = ssn &+ 1
    nextSSN = next
    contiguous = 0
    var gone = 0
    fragments.removeAll { fragment in
      guard fragment.chunk.ssn.precedes(next) else { return false }
      gone += ReassemblyQueue.size(of: fragment.chunk)
      return true
    }
    return gone + deliver(to: &messages)
  }

  private mutating func deliver(to messages: inout [SCTPMessage]) -> Int {
    var start = 0
    var gone = 0
    search: while start < fragments.count {
      let first = fragments[start].chunk
      guard first.flags.contains(.beginning), first.ssn == nextSSN else { break }
      var index = start + max(contiguous, 1) - 1
      while !fragments[index].chunk.flags.contains(.end) {
        guard index + 1 < fragments.count, fragments[index + 1].continues(fragments[index]) else {
          contiguous = index - start + 1
          break search
        }
        index += 1
      }
      contiguous = 0
      gone += fragments[start...index].assemble(to: &messages)
      nextSSN &+= 1
      start = index + 1
    }
    fragments.removeFirst(start)
    return gone
  }
}

/// The waiting fragments of unordered messages, of all streams: TSNs alone order them.
struct UnorderedFragments: Sendable {
  private var fragments: [WaitingFragment] = []

  /// Takes a fragment, appends its message if it is complete now, and returns the size of the fragments that are gone.
  mutating func add(_ chunk: DataChunk, tsn: Int64, to messages: inout [SCTPMessage]) -> Int {
    let fragment = WaitingFragment(tsn: tsn, chunk: chunk)
    if chunk.flags.isSuperset(of: [.beginning, .end]) { return [fragment][...].assemble(to: &messages) }
    let index = fragments.insert(inOrder: fragment)
    var (first, last) = (index, index)
    while !fragments[last].chunk.flags.contains(.end) {
      guard last + 1 < fragments.count, fragments[last + 1].continues(fragments[last]) else { return 0 }
      last += 1
    }
    while !fragments[first].chunk.flags.contains(.beginning) {
      guard first > 0, fragments[first].continues(fragments[first - 1]) else { return 0 }
      first -= 1
    }
    let gone = fragments[first...last].assemble(to: &messages)
    fragments.removeSubrange(first...last)
    return gone
  }

  /// Forgets fragments up to a TSN, and returns their size.
  mutating func skip(to tsn: Int64) -> Int {
    let count = fragments.firstIndex { $0.tsn > tsn } ?? fragments.count
    let gone = fragments[..<count].reduce(0) { $0 + ReassemblyQueue.size(of: $1.chunk) }
    fragments.removeFirst(count)
    return gone
  }
}
