internal import CallCore
internal import CallSession

/// Statistics equal what the peer really sent and received, stream by stream.
final class HonestStats {
  private struct Traffic {
    var packets: Int64 = 0
    var bytes: Int64 = 0

    mutating func count(_ record: TraceRecord) {
      packets += 1
      bytes += Int64(bitPattern: record.values[1])
    }
  }

  /// What one peer sent and received, by SSRC.
  private final class PeerTraffic {
    let peer: String
    var sent: [Int64: Traffic] = [:]
    var received: [Int64: Traffic] = [:]
    init(peer: String) { self.peer = peer }
  }

  private let peers: [PeerTraffic]
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.report = report
    let watch = context.watch
    // Of what a program outside sent, the network saw only what its kernel let out; it may have numbered more.
    peers = context.scenario.peers.filter { $0.stack != .external }.map { PeerTraffic(peer: $0.name) }
    for traffic in peers {
      watch.listen(watch.slot(traffic.peer, "media.sent")) { record in
        traffic.sent[Int64(bitPattern: record.values[0]), default: Traffic()].count(record)
      }
      watch.listen(watch.slot(traffic.peer, "media.received")) { record in
        traffic.received[Int64(bitPattern: record.values[0]), default: Traffic()].count(record)
      }
    }
  }

  func check(_ stats: StatsReport, of peer: String, at time: Instant) {
    guard let traffic = peers.first(where: { $0.peer == peer }) else { return }
    for entry in stats.entries {
      guard let ssrc = entry.integer("ssrc") else { continue }
      switch entry.type {
      case "outbound-rtp":
        compare(entry, "Sent", with: traffic.sent[ssrc] ?? Traffic(), of: peer, at: time)
      case "inbound-rtp":
        let truth = traffic.received[ssrc] ?? Traffic()
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
    // What a puppet sent nobody counted, so nothing can be said about it.
    let sent = peers.compactMap { $0.sent[ssrc]?.packets }.reduce(0, +)
    guard let lost = entry.integer("packetsLost"), sent > 0, lost > max(0, sent - received) else { return }
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
