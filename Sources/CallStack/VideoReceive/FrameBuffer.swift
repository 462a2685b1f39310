import CallCore

/// The frames that wait to be decoded, and which of them can be.
///
/// A frame is continuous when all frames it refers to were decoded or are continuous; a picture is decodable when all
/// references of its frames were decoded or lie in the picture. A picture is taken whole.
package struct FrameBuffer: Sendable {
  /// What became of a frame.
  package enum Insertion: Hashable, Sendable {
    case inserted
    /// The frame, or a later one, was decoded or is here.
    case old
    /// The frame refers to itself, to a later frame, or twice to the same.
    case invalidReferences
    case full
  }

  private struct Entry: Sendable {
    var frame: EncodedFrame
    var isContinuous = false
  }

  /// A picture that can be decoded.
  private struct Picture: Sendable {
    var range: ClosedRange<Int>
  }

  package static let defaultCapacity = 800
  package static let defaultHistory = 8_192

  private let capacity: Int
  private var entries: [Entry] = []
  private var history: DecodedFrameHistory
  private var next: Picture?
  /// The timestamp of the last picture that can be decoded now.
  package private(set) var lastDecodableTimestamp: UInt32?
  /// The number of the newest continuous frame that ends a picture.
  private var lastContinuousPicture: Int64?
  private var lastContinuous: (id: Int64, sequence: Int64)?
  /// The last sequence number of the newest continuous frame: nothing before it needs to be requested again.
  package var lastContinuousSequence: Int64? { lastContinuous?.sequence }
  /// The number of frames passed over or cleared: `framesDropped` of W3C statistics.
  package private(set) var droppedCount = 0

  package init(capacity: Int = FrameBuffer.defaultCapacity, history: Int = FrameBuffer.defaultHistory) {
    self.capacity = max(1, capacity)
    self.history = DecodedFrameHistory(capacity: history)
  }

  package var count: Int { entries.count }

  /// Takes a frame with its references.
  package mutating func insert(_ frame: EncodedFrame) -> Insertion {
    guard Self.isValid(frame) else { return .invalidReferences }
    if let last = history.last, frame.id <= last.id {
      // A key frame that is newer by its timestamp begins a stream with other numbers.
      guard frame.isKeyFrame, Int32(bitPattern: frame.timestamp &- last.timestamp) > 0 else { return .old }
      clear()
    }
    if entries.count >= capacity {
      guard frame.isKeyFrame else { return .full }
      clear()
    }
    let place = entries.lastIndex { $0.frame.id <= frame.id }.map { $0 + 1 } ?? 0
    guard place == 0 || entries[place - 1].frame.id != frame.id else { return .old }
    entries.insert(Entry(frame: frame), at: place)
    propagateContinuity(from: place)
    findDecodable()
    return .inserted
  }

  /// The timestamp of the next picture that can be decoded.
  package var nextDecodableTimestamp: UInt32? { next.map { entries[$0.range.lowerBound].frame.timestamp } }

  /// Whether the next picture that can be decoded begins with a key frame.
  package var isNextKeyFrame: Bool { next.map { entries[$0.range.lowerBound].frame.isKeyFrame } ?? false }

  /// Takes the next picture that can be decoded, its frames in decoding order. Frames before it are dropped.
  package mutating func takeNext() -> [EncodedFrame] {
    guard let next else { return [] }
    let frames = entries[next.range].map(\.frame)
    for frame in frames { history.insert(frame.id, timestamp: frame.timestamp) }
    droppedCount += next.range.lowerBound
    removeThrough(next.range.upperBound)
    return frames
  }

  /// Drops the next picture that can be decoded, and the frames before it.
  package mutating func dropNext() {
    guard let next else { return }
    droppedCount += next.range.upperBound + 1
    removeThrough(next.range.upperBound)
  }

  /// Drops everything. Only a key frame can be decoded then.
  package mutating func clear() {
    droppedCount += entries.count
    entries.removeAll(keepingCapacity: true)
    history.removeAll()
    (next, lastDecodableTimestamp, lastContinuousPicture, lastContinuous) = (nil, nil, nil, nil)
  }

  private mutating func removeThrough(_ index: Int) {
    entries.removeFirst(index + 1)
    findDecodable()
  }

  private static func isValid(_ frame: EncodedFrame) -> Bool {
    for index in 0..<frame.references.count {
      guard frame.references[index] < frame.id else { return false }
      for other in 0..<index where frame.references[other] == frame.references[index] { return false }
    }
    return true
  }

  private func index(of id: Int64) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].frame.id < id { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].frame.id == id ? low : nil
  }

  private mutating func propagateContinuity(from start: Int) {
    for place in start..<entries.count where !entries[place].isContinuous {
      let isContinuous = entries[place].frame.references.allSatisfy { id in
        history.contains(id) || index(of: id).map { entries[$0].isContinuous } ?? false
      }
      guard isContinuous else { continue }
      entries[place].isContinuous = true
      let frame = entries[place].frame
      if frame.id > lastContinuous?.id ?? .min { lastContinuous = (frame.id, frame.sequences.upperBound) }
      if frame.endsPicture { lastContinuousPicture = max(lastContinuousPicture ?? .min, frame.id) }
    }
  }

  private mutating func findDecodable() {
    (next, lastDecodableTimestamp) = (nil, nil)
    guard let lastContinuousPicture else { return }
    var first = 0
    for place in entries.indices {
      guard entries[place].frame.id <= lastContinuousPicture else { break }
      if entries[place].frame.timestamp != entries[first].frame.timestamp { first = place }
      guard entries[place].frame.endsPicture, isDecodable(first...place) else { continue }
      if next == nil { next = Picture(range: first...place) }
      lastDecodableTimestamp = entries[first].frame.timestamp
    }
  }

  private func isDecodable(_ range: ClosedRange<Int>) -> Bool {
    for place in range {
      let isReady = entries[place].frame.references.allSatisfy { id in
        history.contains(id) || range.contains { entries[$0].frame.id == id }
      }
      guard isReady else { return false }
    }
    return true
  }
}
