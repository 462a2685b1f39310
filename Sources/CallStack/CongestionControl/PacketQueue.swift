package import CallCore
package import RTP

/// The order in which waiting packets are sent, as in libwebrtc.
package enum PacketPriority: Int, Hashable, Sendable, CaseIterable, BitwiseCopyable {
  case audio, retransmission, video, repair, padding
}

/// A packet that waits to be sent.
package struct QueuedPacket: BitwiseCopyable {
  package let packet: OutgoingPacket
  package let priority: PacketPriority
  package let byteCount: Int
  package let enqueued: Instant
  /// The number of the probe cluster that the packet was sent for, to be given to ``TransportSequencer``.
  package internal(set) var probe: Int32?
  let handle: PacketHandle
}

/// Packets that wait to be sent: the highest priority first, in turn between the sources of one priority, in order
/// within a source.
struct PacketQueue: ~Copyable {
  /// The packets of one source and priority. Audio is a single stream, to keep the order of all audio packets.
  private struct Stream {
    let ssrc: UInt32
    var packets = FIFO<QueuedPacket>()
  }

  /// The sources of one priority.
  private struct Lane {
    var streams: [Stream] = []
    /// The index of the next stream.
    var turn = 0
    var count = 0

    mutating func append(_ packet: QueuedPacket) {
      let ssrc = packet.priority == .audio ? 0 : packet.packet.header.ssrc
      let index = streams.firstIndex { $0.ssrc == ssrc } ?? streams.count
      if index == streams.count { streams.append(Stream(ssrc: ssrc)) }
      streams[index].packets.append(packet)
      count += 1
    }

    mutating func popFirst() -> QueuedPacket? {
      guard count > 0 else { return nil }
      while true {
        if turn >= streams.count { turn = 0 }
        guard let packet = streams[turn].packets.popFirst() else {
          turn += 1
          continue
        }
        turn += 1
        count -= 1
        return packet
      }
    }
  }

  private var pool = PacketPool()
  private var lanes = PacketPriority.allCases.map { _ in Lane() }
  private(set) var count = 0
  private(set) var byteCount = 0
  /// The sum of the enqueue times of all packets.
  private var arrivals: Int64 = 0

  init() {}

  func isEmpty(_ priority: PacketPriority) -> Bool { lanes[priority.rawValue].count == 0 }

  /// Returns the mean time that packets have waited.
  func meanAge(at now: Instant) -> Interval {
    guard count > 0 else { return .zero }
    return Interval(nanoseconds: now.nanoseconds - arrivals / Int64(count))
  }

  /// Appends the packet that `write` writes, unless it returns nil.
  mutating func append(
    _ priority: PacketPriority, at now: Instant, write: (inout OutputSpan<UInt8>) -> OutgoingPacket?
  ) -> Bool {
    var written: OutgoingPacket?
    let handle = pool.allocate { written = write(&$0) }
    guard let written else {
      pool.release(handle)
      return false
    }
    let size = pool.byteCount(of: handle)
    lanes[priority.rawValue].append(
      QueuedPacket(packet: written, priority: priority, byteCount: size, enqueued: now, handle: handle))
    count += 1
    byteCount += size
    arrivals += now.nanoseconds
    return true
  }

  /// Removes the next packet and appends its bytes.
  mutating func popFirst(into output: inout OutputSpan<UInt8>) -> QueuedPacket? {
    guard count > 0 else { return nil }
    for lane in lanes.indices {
      if let packet = popFirst(lane: lane, into: &output) { return packet }
    }
    return nil
  }

  /// Removes the next packet of a priority and appends its bytes.
  mutating func popFirst(_ priority: PacketPriority, into output: inout OutputSpan<UInt8>) -> QueuedPacket? {
    popFirst(lane: priority.rawValue, into: &output)
  }

  private mutating func popFirst(lane: Int, into output: inout OutputSpan<UInt8>) -> QueuedPacket? {
    guard let packet = lanes[lane].popFirst() else { return nil }
    pool.withBytes(of: packet.handle) { output.append(contentsOf: $0) }
    forget(packet)
    return packet
  }

  /// Removes all packets, and passes each to `visit`.
  mutating func removeAll(_ visit: (QueuedPacket) -> Void) {
    guard count > 0 else { return }
    for lane in lanes.indices {
      while let packet = lanes[lane].popFirst() {
        forget(packet)
        visit(packet)
      }
      lanes[lane].streams.removeAll(keepingCapacity: true)
    }
  }

  private mutating func forget(_ packet: QueuedPacket) {
    pool.release(packet.handle)
    count -= 1
    byteCount -= packet.byteCount
    arrivals -= packet.enqueued.nanoseconds
  }
}
