internal import CallCore
internal import RTP

/// A received source with reports and requests of its own.
protocol ReceivedSource: AnyObject {
  var ssrc: UInt32 { get }
  var lastArrival: Instant { get }
  /// Whether it has sent a BYE, and nothing since.
  var hasDeparted: Bool { get set }

  func receive(_ report: SenderReport, at now: Instant)
  func takeReportBlock(at now: Instant) -> ReportBlock?
  /// Returns the block about the stream that retransmits: it is a source like others (RFC 4588 section 9).
  func takeRepairReportBlock(at now: Instant) -> ReportBlock?
  /// Returns a NACK or a request for a key frame that is due.
  func takeFeedback(from reporter: UInt32, roundTrip: Interval?, at now: Instant) -> RTCPPacket?
  func postponeFeedback(at now: Instant)
  /// The time of the next picture or request.
  var deadline: Instant? { get }
}

/// The receiver of a media section with its sources, whatever becomes of their packets.
protocol SectionSources: AnyObject {
  associatedtype Source: ReceivedSource
  /// The known sources, in order of appearance.
  var sources: [Source] { get set }
  /// Whether the negotiated direction receives.
  var isActive: Bool { get }
}

/// The number of sources kept; beyond it, the source that has been silent longest is dropped.
private let sourceLimit = 8

extension SectionSources {
  func knows(_ ssrc: UInt32) -> Bool { sources.contains { $0.ssrc == ssrc } }

  func adopt(_ source: Source) {
    if sources.count == sourceLimit,
      let oldest = sources.indices.min(by: { sources[$0].lastArrival < sources[$1].lastArrival })
    {
      sources.remove(at: oldest)
    }
    sources.append(source)
  }

  /// Whether every source has sent a BYE and nothing since.
  var isOver: Bool { !sources.isEmpty && sources.allSatisfy(\.hasDeparted) }

  func receive(_ report: SenderReport, at now: Instant) {
    sources.first { $0.ssrc == report.ssrc }?.receive(report, at: now)
  }

  /// - Returns: whether that source is known.
  func depart(_ ssrc: UInt32) -> Bool {
    guard let source = sources.first(where: { $0.ssrc == ssrc }) else { return false }
    source.hasDeparted = true
    return true
  }

  /// Appends a report block for each active source, and for the one that repairs it, up to the limit of one packet.
  func takeReportBlocks(into blocks: inout [ReportBlock], at now: Instant) {
    for source in sources where blocks.count < RTCPPacket.maximumCount && !source.hasDeparted {
      if let block = source.takeReportBlock(at: now) { blocks.append(block) }
      guard blocks.count < RTCPPacket.maximumCount else { return }
      if let block = source.takeRepairReportBlock(at: now) { blocks.append(block) }
    }
  }

  /// Returns a NACK or a request for a key frame that is due.
  func takeFeedback(from reporter: UInt32, roundTrip: Interval?, at now: Instant) -> RTCPPacket? {
    for source in sources {
      if let feedback = source.takeFeedback(from: reporter, roundTrip: roundTrip, at: now) { return feedback }
    }
    return nil
  }

  func postponeFeedback(at now: Instant) {
    for source in sources { source.postponeFeedback(at: now) }
  }

  /// The time of the next picture or request.
  var deadline: Instant? {
    guard isActive else { return nil }
    var earliest: Instant?
    // A loop, because this is asked of every section for every packet.
    for source in sources {
      if let deadline = source.deadline { earliest = earliest.map { min($0, deadline) } ?? deadline }
    }
    return earliest
  }
}
