package import CallCore

/// Feedback about the arrival of a transport's packets (draft-holmer-rmcat-transport-wide-cc-extensions-01 section
/// 3.1).
package struct TransportFeedback: Hashable, Sendable {
  /// A packet that arrived.
  package struct Arrival: Hashable, Sendable, BitwiseCopyable {
    /// The packet's number, counted from the feedback's first.
    package var index: UInt16
    /// The time since the previous arrival, or for the first since the reference time, in ``tick``s. It is negative for
    /// reordered packets.
    package var delta: Int16

    package init(index: UInt16, delta: Int16) {
      self.index = index
      self.delta = delta
    }

    /// Whether its delta takes two bytes.
    var isLarge: Bool { !(0...255).contains(delta) }
  }

  package static let tick = Interval.microseconds(250)
  /// The unit of the reference time.
  package static let referenceUnit = Interval.milliseconds(64)

  package var senderSSRC: UInt32
  package var mediaSSRC: UInt32
  /// The number of the first packet in the feedback.
  package var firstNumber: UInt16
  /// The number of packets in the feedback; those without an arrival were not received.
  package var count: UInt16
  /// The reference time in units of 64 ms, the lowest 24 bits, signed. Its epoch is known only to its sender.
  package var referenceTime: Int32
  /// The number of the feedback, which reveals lost feedback.
  package var feedbackNumber: UInt8
  /// The arrivals, in the order of their numbers.
  package var arrivals: [Arrival]

  package init(
    senderSSRC: UInt32, mediaSSRC: UInt32, firstNumber: UInt16, count: UInt16, referenceTime: Int32,
    feedbackNumber: UInt8, arrivals: [Arrival]
  ) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.firstNumber = firstNumber
    self.count = count
    self.referenceTime = referenceTime
    self.feedbackNumber = feedbackNumber
    self.arrivals = arrivals
  }

  static let format: UInt8 = 15
}

// MARK: - Reading

extension TransportFeedback {
  /// Parses feedback. The cost is bounded by the size of the body, regardless of the claimed number of packets.
  init?(parsing body: RawSpan) {
    guard let sender = body.bigEndian(UInt32.self, at: 0), let media = body.bigEndian(UInt32.self, at: 4),
      let first = body.bigEndian(UInt16.self, at: 8), let count = body.bigEndian(UInt16.self, at: 10), count > 0,
      let time = body.bigEndian(UInt32.self, at: 12)
    else { return nil }
    self.init(
      senderSSRC: sender, mediaSSRC: media, firstNumber: first, count: count,
      referenceTime: Int32(bitPattern: time) >> 8, feedbackNumber: UInt8(truncatingIfNeeded: time), arrivals: [])
    guard let deltas = readChunks(body, at: 16), readDeltas(body, at: deltas) else { return nil }
  }

  /// The status of a packet in the two bits of a chunk.
  private enum Symbol {
    static let missing: UInt16 = 0
    static let small: UInt16 = 1
    static let large: UInt16 = 2
  }

  /// Reads the chunks. A delta of −1 marks a two-byte delta that is not read yet.
  ///
  /// - Returns: the offset of the deltas; nil when the body is malformed.
  private mutating func readChunks(_ body: RawSpan, at start: Int) -> Int? {
    var (offset, index) = (start, 0)
    while index < Int(count) {
      guard let chunk = body.bigEndian(UInt16.self, at: offset) else { return nil }
      offset += 2
      if chunk & 0x8000 == 0 {
        let length = min(Int(chunk & 0x1FFF), Int(count) - index)
        let symbol = chunk >> 13
        if symbol != Symbol.missing {
          guard arrivals.count + length <= body.byteCount else { return nil }
          for place in index..<index + length { guard take(symbol, at: place) else { return nil } }
        }
        // A run of length zero would never end.
        guard length > 0 else { return nil }
        index += length
      } else {
        let (width, symbols) = chunk & 0x4000 == 0 ? (1, 14) : (2, 7)
        for place in 0..<min(symbols, Int(count) - index) {
          let symbol = chunk >> UInt16(width * (symbols - 1 - place)) & (width == 1 ? 1 : 3)
          guard take(symbol, at: index + place) else { return nil }
        }
        index += symbols
      }
    }
    return offset
  }

  private mutating func take(_ symbol: UInt16, at index: Int) -> Bool {
    switch symbol {
    case Symbol.missing: return true
    case Symbol.small: arrivals.append(Arrival(index: UInt16(index), delta: 0))
    case Symbol.large: arrivals.append(Arrival(index: UInt16(index), delta: -1))
    default: return false
    }
    return true
  }

  private mutating func readDeltas(_ body: RawSpan, at start: Int) -> Bool {
    var offset = start
    for place in arrivals.indices {
      if arrivals[place].isLarge {
        guard let delta = body.bigEndian(Int16.self, at: offset) else { return false }
        arrivals[place].delta = delta
        offset += 2
      } else {
        guard let delta = body.byte(at: offset) else { return false }
        arrivals[place].delta = Int16(delta)
        offset += 1
      }
    }
    return true
  }
}

// MARK: - Writing

extension TransportFeedback {
  /// The chunks, built as in libwebrtc: a run where all packets have the same status, else one bit each for fourteen
  /// without a large delta, else two bits each for seven.
  private var chunks: [UInt16] {
    var chunks: [UInt16] = []
    var pending: [UInt16] = []
    var run = 0
    var next = 0
    func whatBecame(of index: Int) -> UInt16 {
      guard next < arrivals.count, Int(arrivals[next].index) == index else { return Symbol.missing }
      defer { next += 1 }
      return arrivals[next].isLarge ? Symbol.large : Symbol.small
    }
    for index in 0..<Int(count) {
      let symbol = whatBecame(of: index)
      // `pending` holds up to fourteen of the last symbols, and `run` their number while all are the same.
      let isAlike = pending.isEmpty || (run > 0 && pending[0] == symbol)
      let fits =
        pending.count < 7 || (pending.count < 14 && symbol != Symbol.large && !pending.contains(Symbol.large))
        || (isAlike && run < 0x1FFF)
      if !fits { Self.emit(&pending, &run, into: &chunks) }
      run = pending.isEmpty ? 1 : run > 0 && pending[0] == symbol ? run + 1 : 0
      if pending.count < 14 { pending.append(symbol) }
    }
    while !pending.isEmpty { Self.emit(&pending, &run, isLast: true, into: &chunks) }
    return chunks
  }

  private static func emit(
    _ pending: inout [UInt16], _ run: inout Int, isLast: Bool = false, into chunks: inout [UInt16]
  ) {
    let width: Int
    if run > 0 {
      chunks.append(pending[0] << 13 | UInt16(run))
      pending.removeAll(keepingCapacity: true)
      run = 0
      return
    } else if pending.count == 14 || (isLast && pending.count > 7) {
      width = 1
    } else {
      width = 2
    }
    let symbols = width == 1 ? 14 : 7
    var chunk: UInt16 = width == 1 ? 0x8000 : 0xC000
    for (place, symbol) in pending.prefix(symbols).enumerated() {
      chunk |= symbol << UInt16(width * (symbols - 1 - place))
    }
    chunks.append(chunk)
    pending.removeFirst(min(symbols, pending.count))
    run = pending.allSatisfy { $0 == pending.first } ? pending.count : 0
  }

  /// The size in bytes, without padding.
  var contentSize: Int { 16 + 2 * chunks.count + arrivals.reduce(0) { $0 + ($1.isLarge ? 2 : 1) } }

  var size: Int { (contentSize + 3) / 4 * 4 }

  func write(into output: inout OutputSpan<UInt8>) {
    let start = output.count
    output.append(bigEndian: senderSSRC)
    output.append(bigEndian: mediaSSRC)
    output.append(bigEndian: firstNumber)
    output.append(bigEndian: count)
    output.append(bigEndian: UInt32(bitPattern: referenceTime) << 8 | UInt32(feedbackNumber))
    for chunk in chunks { output.append(bigEndian: chunk) }
    for arrival in arrivals {
      if arrival.isLarge {
        output.append(bigEndian: arrival.delta)
      } else {
        output.append(UInt8(arrival.delta))
      }
    }
    let padding = (4 - (output.count - start) % 4) % 4
    if padding > 0 { _ = RTPHeader.appendPadding(UInt8(padding), to: &output) }
  }
}

// MARK: - Making

extension TransportFeedback {
  /// Makes feedback from arrivals, in the order of their numbers.
  package struct Builder: Sendable {
    package private(set) var feedback: TransportFeedback
    /// The sum of the deltas so far, so that rounding errors do not accumulate.
    private var last: Instant
    /// The maximum size of the packet in bytes before protection, with deltas and chunks at their largest.
    private static let maximumSize = 1_000

    /// Starts feedback.
    ///
    /// - Parameters:
    ///   - firstNumber: the first number in the feedback, received or not.
    ///   - arrival: the time of the first arrival.
    package init(firstNumber: UInt16, arrival: Instant, senderSSRC: UInt32, mediaSSRC: UInt32, feedbackNumber: UInt8) {
      let unit = TransportFeedback.referenceUnit.nanoseconds
      let reference = max(0, arrival.nanoseconds) / unit
      last = Instant(nanoseconds: reference * unit)
      // 24 bits, signed.
      let wrapped = Int32(truncatingIfNeeded: reference << 8) >> 8
      feedback = TransportFeedback(
        senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, firstNumber: firstNumber, count: 0, referenceTime: wrapped,
        feedbackNumber: feedbackNumber, arrivals: [])
    }

    /// Adds an arrival after the existing ones.
    ///
    /// - Parameter index: the packet's number, counted from the first.
    /// - Returns: false, with nothing added, when the arrival must go into another feedback.
    package mutating func append(index: Int, at arrival: Instant) -> Bool {
      let tick = TransportFeedback.tick.nanoseconds
      let span = (arrival - last).nanoseconds
      let rounded = (span + (span < 0 ? -tick / 2 : tick / 2)) / tick
      // A gap is encoded as a run, so the arrivals also bound the chunks.
      let chunks = min(index / 7 + 1, 3 * (feedback.arrivals.count + 1) + index / 0x1FFF)
      let size = 20 + 2 * chunks + 2 * feedback.arrivals.count
      guard index >= Int(feedback.count), index < Int(UInt16.max), size <= Self.maximumSize else { return false }
      let delta: Int16
      if Defect.feedbackDeltaOverflows.isPlanted {
        delta = Int16(truncatingIfNeeded: rounded)
      } else {
        guard let exact = Int16(exactly: rounded) else { return false }
        delta = exact
      }
      feedback.arrivals.append(Arrival(index: UInt16(index), delta: delta))
      feedback.count = UInt16(index + 1)
      last += TransportFeedback.tick * rounded
      return true
    }
  }
}
