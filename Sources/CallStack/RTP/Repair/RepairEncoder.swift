import CallCore

/// Collects the media packets of a stream and makes repair packets over groups of them (libwebrtc `UlpfecGenerator`).
///
/// A group ends with a frame, when it has as many frames as wanted, or when its packets suffice to have about the wanted
/// overhead. Give it the packets in the order in which they leave, before SRTP and without RED.
package struct RepairEncoder: Sendable {
  private struct Media: Sendable {
    let number: Int64
    let bytes: [UInt8]
  }

  package let format: RepairFormat
  package var protection = Protection.none
  package var kind = RepairMasks.Kind.random
  /// The IDs of header extensions that count as zeros: those that state the time or the order of sending. Both sides must
  /// agree: libwebrtc clears transmission offset, absolute send time and transport-wide number.
  package var unprotectedExtensions: [UInt8] = []
  /// The number of groups that were repaired by fewer packets than wanted, because their numbers span too much.
  package private(set) var shortenedCount = 0
  private var group: [Media] = []
  private var frameCount = 0
  private var hasKeyFrame = false
  private var ssrc: UInt32 = 0
  private var unwrapper = SequenceUnwrapper()
  private var ready = FIFO<RepairPayload>()

  /// The number of media packets in a group.
  package static let groupLimit = 48
  /// The largest media packet.
  private static let packetLimit = 2_048
  /// The number of finished repair packets that wait to be taken.
  private static let readyLimit = 96
  /// The excess of the overhead over the factor at which a group waits for more frames, in 1/256.
  private static let maximumExcess = 50
  /// The factor above which a group has a minimum of packets, that minimum, and the packets in a frame from which it is
  /// one larger.
  private static let highFactor: UInt8 = 80
  private static let highMinimum = 4
  private static let manyPackets = 2

  package init(format: RepairFormat) { self.format = format }

  /// The number of media packets that wait for the end of their group.
  package var pendingCount: Int { group.count }

  /// Takes the next media packet.
  ///
  /// - Parameters:
  ///   - isKeyFrame: whether the packet is one of a key frame.
  ///   - endsFrame: whether it is the last one of its frame.
  package mutating func add(_ packet: RawSpan, isKeyFrame: Bool, endsFrame: Bool) {
    guard let parsed = RTPPacket(parsing: packet), packet.byteCount <= Self.packetLimit else { return }
    guard protection != .none else {
      reset()
      return
    }
    if parsed.header.ssrc != ssrc { reset() }
    ssrc = parsed.header.ssrc
    let number = unwrapper.unwrap(parsed.header.sequenceNumber)
    if let last = group.last, number <= last.number { discard() }
    if let first = group.first, number - first.number >= Int64(format.maximumSpan) {
      shortenedCount += 1
      finish()
    }
    hasKeyFrame = hasKeyFrame || isKeyFrame
    if group.count < Self.groupLimit {
      group.append(Media(number: number, bytes: parsed.copy(of: packet, clearing: unprotectedExtensions)))
    }
    guard endsFrame else { return }
    frameCount += 1
    if frameCount >= protection.maximumFrames || isExcessSmall && isLargeEnough { finish() }
  }

  /// Returns the next repair payload.
  package mutating func next() -> RepairPayload? { ready.popFirst() }

  /// Forgets the packets of the unfinished group, after a change of the stream.
  package mutating func reset() {
    discard()
    unwrapper = SequenceUnwrapper()
  }

  private mutating func discard() {
    group.removeAll(keepingCapacity: true)
    (frameCount, hasKeyFrame) = (0, false)
  }

  private var factor: UInt8 { hasKeyFrame ? protection.keyFactor : protection.deltaFactor }

  private var isExcessSmall: Bool {
    guard !group.isEmpty else { return false }
    let count = RepairMasks.count(mediaCount: group.count, factor: factor)
    return count << 8 / group.count - Int(factor) < Self.maximumExcess
  }

  private var isLargeEnough: Bool {
    let minimum = factor > Self.highFactor ? Self.highMinimum : 1
    return group.count >= (group.count < Self.manyPackets * frameCount ? minimum : minimum + 1)
  }

  private mutating func finish() {
    defer { discard() }
    guard let first = group.first else { return }
    let count = RepairMasks.count(mediaCount: group.count, factor: factor)
    guard count > 0 else { return }
    for indices in RepairMasks.masks(mediaCount: group.count, repairCount: count, kind: kind) {
      guard let low = indices.first else { continue }
      // Offsets count from the first protected packet of the group, for all repair packets of it.
      var (mask, parity) = (PacketMask(), PacketParity())
      for index in low..<group.count where indices.contains(index) {
        let media = group[index]
        mask.insert(Int(media.number - first.number))
        parity.add(media.bytes.span.bytes)
      }
      if ready.count == Self.readyLimit { _ = ready.popFirst() }
      ready.append(
        RepairPayload(
          base: UInt16(truncatingIfNeeded: first.number), mask: mask, parity: parity,
          ssrc: format == .flexFECDraft ? ssrc : nil))
    }
  }
}
