internal import CallCore
internal import RTP

/// Writes a session's RTCP: regular compounds about all of its streams, and feedback between them.
struct ReportWriter {
  private let clock: WallClock
  /// The CNAME, the same for all sources of a session.
  private let canonicalName: [UInt8]
  /// Ended sources of ours that need a BYE.
  var departed: [UInt32] = []
  /// The index of the first channel in the next report, when one report cannot hold all.
  private var turn = 0

  /// The maximum size of a report in bytes, before protection.
  private static let reportSize = 1_100

  init(clock: WallClock, canonicalName: String) {
    self.clock = clock
    self.canonicalName = Array(canonicalName.utf8.prefix(255))
  }

  /// Writes a compound of all our senders with their CNAME, a report block for each received source, and a BYE for each
  /// ended source. The rest goes into the next report.
  ///
  /// - Parameter source: the SSRC of the report when no stream sends.
  /// - Returns: the sources in the BYE, or nil when the buffer has no room.
  mutating func writeReport(
    on channels: [MediaChannel], from source: UInt32, into buffer: inout OutputSpan<UInt8>, at now: Instant
  ) -> [UInt32]? {
    let order = channels.indices.map { channels[($0 + turn) % channels.count] }
    var blocks: [ReportBlock] = []
    for channel in order { channel.takeReportBlocks(into: &blocks, at: now) }
    var reports: [SenderReport] = []
    for channel in order { channel.appendSenderReports(to: &reports, clock: clock, at: now) }
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

  /// Writes feedback, alone if negotiated (RFC 5506 section 4.1), otherwise in a minimal compound (RFC 4585 section
  /// 3.1).
  func write(
    _ feedback: RTCPPacket, isReducedSize: Bool, on channels: [MediaChannel], from source: UInt32,
    into buffer: inout OutputSpan<UInt8>, at now: Instant
  ) -> Bool {
    if !isReducedSize {
      var reports: [SenderReport] = []
      for channel in channels where reports.isEmpty {
        channel.appendSenderReports(to: &reports, clock: clock, at: now)
      }
      let report = reports.first
      let source = report?.ssrc ?? source
      let first = report.map(RTCPPacket.senderReport) ?? .receiverReport(ReceiverReport(ssrc: source))
      let name = SourceDescription(ssrc: source, canonicalName: canonicalName)
      guard first.write(into: &buffer), RTCPPacket.sourceDescription([name]).write(into: &buffer) else { return false }
    }
    return feedback.write(into: &buffer)
  }
}
