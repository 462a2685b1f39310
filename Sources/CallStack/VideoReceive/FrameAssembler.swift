package import CallCore
package import RTP

/// Collects the packets of a video stream and puts whole frames together.
///
/// Packets wait in a ring of reusable slots indexed by sequence number. A frame comes out once it is whole, possibly
/// before an older one.
package struct FrameAssembler: Sendable {
  /// What became of a packet.
  package enum Insertion: Hashable, Sendable {
    case inserted, duplicate
    /// The packet belongs to frames that were decoded or given up.
    case old
    /// The ring was full, and is empty now: only a key frame helps.
    case overflow
  }

  private struct Slot: Sendable {
    enum State: Sendable { case empty, waiting, padding, taken }

    var state = State.empty
    var sequence: Int64 = -1
    var header = RTPHeader(payloadType: 0, sequenceNumber: 0, timestamp: 0, ssrc: 0)
    var payload: VideoPayload?
    var dependencies: DependencyDescriptor?
    /// Whether every packet from the frame's first to this one is here.
    var isContinuous = false
    var wasRequested = false
    var arrival = Instant.zero
    var bytes: [UInt8] = []

    var endsFrame: Bool { header.marker || payload?.endsFrame ?? false }
  }

  package static let initialCapacity = 512
  package static let maximumCapacity = 2_048

  package let format: VideoFormat
  private var slots: [Slot]
  private let maximum: Int
  private var unwrapper = SequenceUnwrapper()
  private var discarded: Int64?
  private var av1 = AV1FrameBuilder()
  /// The number of whole frames whose payloads contradict each other.
  package private(set) var damagedFrameCount = 0

  /// - Parameters:
  ///   - capacity: the number of slots at first, rounded up to a power of two.
  ///   - maximum: the number of slots to which the ring may grow.
  package init(
    format: VideoFormat, capacity: Int = FrameAssembler.initialCapacity, maximum: Int = FrameAssembler.maximumCapacity
  ) {
    self.format = format
    var size = 2
    while size < min(max(capacity, 2), 1 << 14) { size *= 2 }
    self.maximum = max(size, min(maximum, 1 << 14))
    slots = Array(repeating: Slot(), count: size)
  }

  /// The number of slots.
  package var capacity: Int { slots.count }

  private func index(_ sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence) & (slots.count - 1) }

  /// Returns the slot of a packet that is here or was.
  private func known(_ sequence: Int64) -> Int? {
    let place = index(sequence)
    return slots[place].state != .empty && slots[place].sequence == sequence ? place : nil
  }

  /// Takes a packet.
  ///
  /// - Parameters:
  ///   - payload: what the packet's payload says, with the Dependency Descriptor applied.
  ///   - bytes: the payload.
  ///   - wasRequested: whether the packet was requested again.
  ///   - frames: gets the frames that are whole now, in order of their packets.
  package mutating func insert(
    _ payload: VideoPayload, bytes: RawSpan, header: RTPHeader, dependencies: DependencyDescriptor? = nil,
    wasRequested: Bool = false, at now: Instant, into frames: inout [EncodedFrame]
  ) -> Insertion {
    switch makeRoom(for: header.sequenceNumber) {
    case .refused(let insertion): return insertion
    case .room(let place, let sequence):
      slots[place].state = .waiting
      slots[place].sequence = sequence
      slots[place].header = header
      slots[place].payload = payload
      slots[place].dependencies = dependencies
      slots[place].isContinuous = false
      slots[place].wasRequested = wasRequested
      slots[place].arrival = now
      slots[place].bytes.removeAll(keepingCapacity: true)
      bytes.withUnsafeBytes { slots[place].bytes.append(contentsOf: $0) }
      findFrames(from: sequence, into: &frames)
      return .inserted
    }
  }

  /// Takes a packet without a payload, which lies between two frames.
  package mutating func insertPadding(_ header: RTPHeader, at now: Instant, into frames: inout [EncodedFrame])
    -> Insertion
  {
    switch makeRoom(for: header.sequenceNumber) {
    case .refused(let insertion): return insertion
    case .room(let place, let sequence):
      slots[place].state = .padding
      slots[place].sequence = sequence
      slots[place].header = header
      slots[place].payload = nil
      slots[place].isContinuous = false
      findFrames(from: sequence, into: &frames)
      return .inserted
    }
  }

  /// Forgets the packets up to a sequence number, because a later frame has been decoded.
  package mutating func discard(through sequence: Int64) {
    guard sequence > discarded ?? .min else { return }
    discarded = sequence
    for place in slots.indices where slots[place].state == .waiting && slots[place].sequence <= sequence {
      slots[place].state = .taken
    }
  }

  /// Forgets all packets. Sequence numbers go on.
  package mutating func reset() {
    for place in slots.indices { slots[place].state = .empty }
    discarded = nil
  }

  /// Returns a sequence number extended over wraps.
  package func extended(_ number: UInt16) -> Int64 { unwrapper.peek(number) }

  /// Returns whether a packet comes before the newest one that was taken.
  package func isOlder(_ number: UInt16) -> Bool { unwrapper.last.map { unwrapper.peek(number) < $0 } ?? false }

  private enum Place {
    case room(slot: Int, sequence: Int64)
    case refused(Insertion)
  }

  private mutating func makeRoom(for number: UInt16) -> Place {
    let sequence = unwrapper.peek(number)
    if let place = known(sequence), slots[place].state != .empty { return .refused(.duplicate) }
    if let discarded, sequence <= discarded { return .refused(.old) }
    while true {
      let place = index(sequence)
      if slots[place].state == .waiting {
        if grow() { continue }
        reset()
        return .refused(.overflow)
      }
      // A packet so late that a newer one has used its slot belongs to no frame that is still of use.
      guard slots[place].state == .empty || slots[place].sequence < sequence else { return .refused(.old) }
      break
    }
    if sequence > unwrapper.last ?? .min { _ = unwrapper.unwrap(number) }
    return .room(slot: index(sequence), sequence: sequence)
  }

  private mutating func grow() -> Bool {
    guard slots.count * 2 <= maximum else { return false }
    var larger = Array(repeating: Slot(), count: slots.count * 2)
    for slot in slots where slot.state != .empty {
      larger[Int(truncatingIfNeeded: slot.sequence) & (larger.count - 1)] = slot
    }
    slots = larger
    return true
  }
}

// MARK: - Frames

extension FrameAssembler {
  private mutating func findFrames(from sequence: Int64, into frames: inout [EncodedFrame]) {
    // The packet may also be what the next one's frame begins behind.
    if !follow(from: sequence, into: &frames) { _ = follow(from: sequence + 1, into: &frames) }
  }

  /// Walks forward over continuous packets. Returns false when already the first is not.
  private mutating func follow(from start: Int64, into frames: inout [EncodedFrame]) -> Bool {
    var sequence = start
    while let place = known(sequence), slots[place].state == .waiting, !slots[place].isContinuous,
      isContinuous(place, sequence)
    {
      slots[place].isContinuous = true
      if slots[place].endsFrame, let first = firstPacket(of: sequence) { take(first...sequence, into: &frames) }
      sequence += 1
    }
    return sequence != start
  }

  /// Returns whether the packet before begins no part of this one's frame; nil when that packet is not known.
  private func isBoundary(before sequence: Int64, timestamp: UInt32) -> Bool? {
    guard let place = known(sequence - 1) else { return nil }
    return slots[place].state == .padding || slots[place].endsFrame || slots[place].header.timestamp != timestamp
  }

  private func isContinuous(_ place: Int, _ sequence: Int64) -> Bool {
    guard let start = slots[place].payload?.start else { return false }
    if start == .certainly { return true }
    switch isBoundary(before: sequence, timestamp: slots[place].header.timestamp) {
    case nil: return start == .possibly
    case true?: return start != .no
    case false?: return slots[index(sequence - 1)].state == .waiting && slots[index(sequence - 1)].isContinuous
    }
  }

  private func firstPacket(of last: Int64) -> Int64? {
    var sequence = last
    for _ in 0..<slots.count {
      guard let place = known(sequence), slots[place].state == .waiting else { return nil }
      if slots[place].payload?.start == .certainly { return sequence }
      if isBoundary(before: sequence, timestamp: slots[place].header.timestamp) ?? true { return sequence }
      sequence -= 1
    }
    return nil
  }

  private mutating func take(_ sequences: ClosedRange<Int64>, into frames: inout [EncodedFrame]) {
    let (first, last) = (index(sequences.lowerBound), index(sequences.upperBound))
    guard let payload = slots[first].payload else { return }
    var frame = EncodedFrame(
      isKeyFrame: payload.isKeyFrame, timestamp: slots[first].header.timestamp,
      payloadType: slots[first].header.payloadType, format: format, descriptor: payload.descriptor,
      dependencies: slots[first].dependencies, data: [], width: 0, height: 0, endsPicture: slots[last].header.marker,
      sequences: sequences, firstArrival: slots[first].arrival, lastArrival: slots[first].arrival,
      wasRetransmitted: false)
    frame.data.reserveCapacity(sequences.reduce(16) { $0 + slots[index($1)].bytes.count + 4 })
    av1.begin()
    for sequence in sequences {
      let place = index(sequence)
      append(slots[place], to: &frame)
      slots[place].state = .taken
    }
    guard format != .av1 || av1.isWhole() else {
      damagedFrameCount += 1
      return
    }
    frames.append(frame)
  }

  private mutating func append(_ slot: Slot, to frame: inout EncodedFrame) {
    frame.firstArrival = min(frame.firstArrival, slot.arrival)
    frame.lastArrival = max(frame.lastArrival, slot.arrival)
    if slot.wasRequested { frame.wasRetransmitted = true }
    guard let payload = slot.payload else { return }
    if payload.width > 0 { (frame.width, frame.height) = (payload.width, payload.height) }
    let bytes = slot.bytes.span.bytes
    switch format {
    case .h264:
      // Any packet may have the slice that makes it a key frame.
      if payload.isKeyFrame, slot.dependencies == nil { frame.isKeyFrame = true }
      H264Payload.append(bytes, toByteStream: &frame.data)
    case .av1: av1.append(bytes, to: &frame.data)
    case .vp8, .vp9, .generic: frame.data.append(bytes, payload.dataOffset..<bytes.byteCount)
    }
  }
}
