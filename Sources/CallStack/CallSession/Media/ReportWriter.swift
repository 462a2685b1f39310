internal import CallCore
internal import RTP

/// Writes what a session reports: regular compounds about all of its streams, and feedback between them.
struct ReportWriter {
  private let clock: WallClock
  /// All of a session's sources have one.
  private let canonicalName: [UInt8]
  /// Sources of ours that ended, for a BYE.
  var departed: [UInt32] = []
  /// Where the next report begins when one cannot hold all.
  private var turn = 0

  /// What a report may take of a datagram, before protection.
  private static let reportSize = 1_100

  init(clock: WallClock, canonicalName: String) {
    self.clock = clock
    self.canonicalName = Array(canonicalName.utf8.prefix(255))
  }

  /// Writes a compound of all our senders under one name, with a block for each source heard, and a BYE for those that
  /// ended. What does not fit has its turn in the next.
  ///
  /// - Parameter source: who reports when nobody sends.
  /// - Returns: the sources that have said goodbye, or nil when the buffer has no room.
  mutating func writeReport(
    on channels: [MediaChannel], from source: UInt32, into buffer: inout OutputSpan<UInt8>, at now: Instant
  ) -> [UInt32]? {
    let order = channels.indices.map { channels[($0 + turn) % channels.count] }
    var blocks: [ReportBlock] = []
    for channel in order { channel.takeReportBlocks(into: &blocks, at: now) }
    var reports = order.compactMap { $0.senderReport(clock: clock, at: now) }
    let room = max(1, (Self.reportSize - 24 * blocks.count) / (28 + 12 + canonicalName.count))
    let isFull = reports.count > room || blocks.count == RTCPPacket.maximumCount
    reports.removeLast(max(0, reports.count - room))
    turn = isFull ? turn + 1 : 0

    let reporters = reports.isEmpty ? [source] : reports.map(\.ssrc)
    if reports.isEmpty {
      guard RTCPPacket.receiverReport(ReceiverReport(ssrc: source, blocks: blocks)).write(into: &buffer) else {
        return nil
      }
    } else {
      reports[0].blocks = blocks
    }
    for report in reports { guard RTCPPacket.senderReport(report).write(into: &buffer) else { return nil } }
    let names = reporters.map { SourceDescription(ssrc: $0, canonicalName: canonicalName) }
    guard RTCPPacket.sourceDescription(names).write(into: &buffer) else { return nil }
    let gone = Array(departed.prefix(RTCPPacket.maximumCount))
    guard gone.isEmpty || RTCPPacket.goodbye(Goodbye(sources: gone)).write(into: &buffer) else { return nil }
    departed.removeFirst(gone.count)
    return gone
  }

  /// Writes feedback, alone where that was negotiated (RFC 5506 section 4.1), and else in a minimal compound (RFC 4585
  /// section 3.1).
  func write(
    _ feedback: RTCPPacket, isReducedSize: Bool, on channels: [MediaChannel], from source: UInt32,
    into buffer: inout OutputSpan<UInt8>, at now: Instant
  ) -> Bool {
    if !isReducedSize {
      let report = channels.lazy.compactMap { $0.senderReport(clock: clock, at: now) }.first
      let source = report?.ssrc ?? source
      let first = report.map(RTCPPacket.senderReport) ?? .receiverReport(ReceiverReport(ssrc: source))
      let name = SourceDescription(ssrc: source, canonicalName: canonicalName)
      guard first.write(into: &buffer), RTCPPacket.sourceDescription([name]).write(into: &buffer) else { return false }
    }
    return feedback.write(into: &buffer)
  }
}
