internal import CallCore
internal import PeerSession
internal import Statistics

/// The statistics as text: one line a second.
struct StatsLine {
  private var before: (at: Instant, sent: Int64, received: Int64)?

  mutating func text(for report: StatsReport, at now: Instant, since start: Instant) -> String {
    let (sent, received) = (report.integer("outbound-rtp", "bytesSent"), report.integer("inbound-rtp", "bytesReceived"))
    let interval = max(0.001, (now - (before?.at ?? start)).seconds)
    let rate = { (bytes: Int64) in Int((Double(bytes) * 8 / interval / 1_000).rounded()) }
    let sentRate = rate(sent - (before?.sent ?? 0))
    let receivedRate = rate(received - (before?.received ?? 0))
    before = (now, sent, received)
    let seconds = (now - start).nanoseconds / 1_000_000_000
    var parts = ["\(seconds / 60):" + (seconds % 60 < 10 ? "0" : "") + "\(seconds % 60)"]
    parts.append("sent \(report.integer("outbound-rtp", "packetsSent")) packets, \(sentRate) kbit/s")
    parts.append("received \(report.integer("inbound-rtp", "packetsReceived")), \(receivedRate) kbit/s")
    parts.append("lost \(report.integer("inbound-rtp", "packetsLost"))")
    if let jitter = report.real("inbound-rtp", "jitter") { parts.append("jitter \(Self.tenths(jitter * 1_000)) ms") }
    let played = report.integer("inbound-rtp", "totalSamplesReceived")
    if played > 0 {
      let concealed = Double(report.integer("inbound-rtp", "concealedSamples")) / Double(played)
      parts.append("concealed \(Self.tenths(concealed * 100)) %")
    }
    if let level = report.real("inbound-rtp", "audioLevel") { parts.append("level \(Self.tenths(level))") }
    let pair = report.selectedPair
    if case .real(let time)? = pair?["currentRoundTripTime"] { parts.append("rtt \(Self.tenths(time * 1_000)) ms") }
    return parts.joined(separator: "  ")
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }
}

extension StatsReport {
  /// The candidate pair that carries the media.
  var selectedPair: Entry? {
    guard case .text(let id)? = first("transport")?["selectedCandidatePairId"] else { return nil }
    return entries.first { $0.id == id }
  }

  func integer(_ type: String, _ member: String) -> Int64 {
    guard case .integer(let value)? = first(type)?[member] else { return 0 }
    return value
  }

  func real(_ type: String, _ member: String) -> Double? {
    guard case .real(let value)? = first(type)?[member] else { return nil }
    return value
  }
}
