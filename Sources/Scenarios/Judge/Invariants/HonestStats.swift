internal import CallCore
internal import CallSession

/// Statistics equal what the peer really sent and received, stream by stream.
final class HonestStats {
  private struct Stream: Hashable {
    var peer: String
    var ssrc: Int64
  }
  private struct Traffic {
    var packets: Int64 = 0
    var bytes: Int64 = 0
  }

  private var sent: [Stream: Traffic] = [:]
  private var received: [Stream: Traffic] = [:]
  /// What anybody sent, by SSRC.
  private var sentByAnyone: [Int64: Int64] = [:]
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.report = report
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(context.watch.slot(peer, "media.sent")) { [unowned self] record in
        let ssrc = Int64(bitPattern: record.values[0])
        Self.count(record, &sent[Stream(peer: peer, ssrc: ssrc), default: Traffic()])
        sentByAnyone[ssrc, default: 0] += 1
      }
      context.watch.listen(context.watch.slot(peer, "media.received")) { [unowned self] record in
        let ssrc = Int64(bitPattern: record.values[0])
        Self.count(record, &received[Stream(peer: peer, ssrc: ssrc), default: Traffic()])
      }
    }
  }

  private static func count(_ record: TraceRecord, _ traffic: inout Traffic) {
    traffic.packets += 1
    traffic.bytes += Int64(bitPattern: record.values[1])
  }

  func check(_ stats: StatsReport, of peer: String, at time: Instant) {
    for entry in stats.entries {
      guard let ssrc = entry.integer("ssrc") else { continue }
      let stream = Stream(peer: peer, ssrc: ssrc)
      switch entry.type {
      case "outbound-rtp":
        compare(entry, "Sent", with: sent[stream] ?? Traffic(), of: peer, at: time)
      case "inbound-rtp":
        let truth = received[stream] ?? Traffic()
        compare(entry, "Received", with: truth, of: peer, at: time)
        checkLoss(entry, ssrc, received: truth.packets, of: peer, at: time)
      default: break
      }
    }
  }

  /// Packets, and bytes with RTP headers, which W3C counts apart.
  private func compare(
    _ entry: StatsReport.Entry, _ way: String, with truth: Traffic, of peer: String, at time: Instant
  ) {
    if let packets = entry.integer("packets\(way)"), packets != truth.packets {
      tell(entry, "packets\(way)", packets, truth.packets, of: peer, at: time)
    }
    if let payload = entry.integer("bytes\(way)"), let headers = entry.integer("headerBytes\(way)"),
      payload + headers != truth.bytes
    {
      tell(entry, "bytes\(way) + headerBytes\(way)", payload + headers, truth.bytes, of: peer, at: time)
    }
  }

  private func checkLoss(
    _ entry: StatsReport.Entry, _ ssrc: Int64, received: Int64, of peer: String, at time: Instant
  ) {
    guard let lost = entry.integer("packetsLost"), let sent = sentByAnyone[ssrc], lost > max(0, sent - received) else {
      return
    }
    tell(entry, "packetsLost", lost, max(0, sent - received), orLess: true, of: peer, at: time)
  }

  private func tell(
    _ entry: StatsReport.Entry, _ member: String, _ said: Int64, _ truth: Int64, orLess: Bool = false, of peer: String,
    at time: Instant
  ) {
    let bound = orLess ? "at most " : ""
    report(
      Violation(
        .honestStats, at: time,
        actual: "\(peer)'s \(entry.type) says \(member) \(said) at \(Wording.time(time)), and it was \(bound)\(truth)"))
  }
}

extension StatsReport.Entry {
  func integer(_ member: String) -> Int64? {
    guard case .integer(let value)? = self[member] else { return nil }
    return value
  }
}
