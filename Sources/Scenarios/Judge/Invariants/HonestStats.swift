internal import CallCore
internal import ScenarioFormat
internal import Statistics

/// Statistics equal the traffic at the peer's interfaces, stream by stream: packets, bytes, losses, jitter, round
/// trips.
///
/// The stack reports each packet that it accepts, which must have arrived at that instant, and must account for packets
/// that it ignores. A packet that the device could not send has not left it, so a sender may count that many more than
/// the wire carried.
final class HonestStats {
  let traffic: [PeerTraffic]
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.report = report
    // For an external program the network sees only what passes its kernel; the program may have numbered more packets.
    traffic = context.scenario.peers.filter { $0.stack == .real }.map { PeerTraffic($0.name, context) }
    for traffic in traffic {
      traffic.onForged = { [peer = traffic.peer] ssrc, time in
        let actual = "\(peer) says that it received a packet of source \(ssrc) at \(Wording.time(time)), "
        report(Violation(.honestStats, at: time, actual: actual + "when none arrived"))
      }
    }
  }

  func check(_ stats: StatsReport, of peer: String, at time: Instant) {
    guard let traffic = traffic.first(where: { $0.peer == peer }) else { return }
    for entry in stats.entries {
      let member = Claim(entry: entry, clockRate: stats.clockRate(of: entry), peer: peer, time: time)
      if entry.type == "candidate-pair" { check(roundTrip: member, traffic) }
      guard let ssrc = entry.integer("ssrc").flatMap({ UInt32(exactly: $0) }) else { continue }
      switch entry.type {
      case "outbound-rtp": check(sent: member, ssrc, traffic)
      case "inbound-rtp": check(received: member, ssrc, traffic)
      default: break
      }
    }
  }

  // MARK: Streams

  private func check(sent claim: Claim, _ ssrc: UInt32, _ traffic: PeerTraffic) {
    // What a stream sends again on another source, and its padding, count with it (W3C `packetsSent`).
    let wire = ([ssrc] + claim.repairs).compactMap { traffic.sent[$0] }.reduce(into: PeerTraffic.Sent()) {
      $0.packets += $1.packets
      $0.bytes += $1.bytes
    }
    guard let packets = claim.entry.integer("packetsSent") else { return }
    let most = traffic.usesConnections ? Int64.max : wire.packets + traffic.unsent
    guard packets >= wire.packets, packets <= most else {
      return tell(claim, "packetsSent \(packets)", "\(wire.packets) left it")
    }
    if packets == wire.packets { check(bytes: claim, "Sent", wire.bytes, packets) }
  }

  private func check(received claim: Claim, _ ssrc: UInt32, _ traffic: PeerTraffic) {
    traffic.settle(ssrc, at: claim.time)
    let wire = traffic.received[ssrc] ?? PeerTraffic.Received()
    if let packets = claim.entry.integer("packetsReceived") {
      for source in claim.repairs { traffic.settle(source, at: claim.time) }
      let repairs = claim.repairs.compactMap { traffic.received[$0]?.taken }
      let taken = repairs.reduce(wire.taken.packets) { $0 + $1.packets }
      guard packets == taken else {
        return tell(claim, "packetsReceived \(packets)", "\(taken) arrived and were taken")
      }
      check(bytes: claim, "Received", repairs.reduce(wire.taken.bytes) { $0 + $1.bytes }, packets)
    }
    if wire.ignored > traffic.refused {
      tell(claim, "nothing of \(wire.ignored) packets that arrived", "it refused \(traffic.refused)")
    }
    if let lost = claim.entry.integer("packetsLost"), lost != wire.taken.lost {
      tell(claim, "packetsLost \(lost)", "\(wire.taken.lost) are missing")
    }
    if case .real(let jitter)? = claim.entry["jitter"], let rate = claim.clockRate,
      let truth = wire.taken.jitter(clockRate: rate, claimed: jitter)
    {
      if (jitter - truth).magnitude > Self.jitterTolerance(clockRate: rate) {
        tell(claim, "jitter \(Wording.decimal(jitter, places: 6)) s", "it was \(Wording.decimal(truth, places: 6)) s")
      }
    }
  }

  /// Returns the accepted error in seconds. The stack counts in whole ticks of the media clock, and rounds the average:
  /// together less than two ticks, which are 250 µs at 8 kHz.
  private static func jitterTolerance(clockRate: Int64) -> Double { max(0.000_1, 2 / Double(clockRate)) }

  /// Checks bytes with RTP headers, which W3C counts separately, before protection: SRTP adds the same to each packet.
  private func check(bytes claim: Claim, _ way: String, _ wire: Int64, _ packets: Int64) {
    guard let payload = claim.entry.integer("bytes\(way)"), let headers = claim.entry.integer("headerBytes\(way)")
    else {
      return
    }
    guard !Self.tagSizes.contains(where: { payload + headers + $0 * packets == wire }) else { return }
    tell(
      claim, "bytes\(way) + headerBytes\(way) \(payload + headers)",
      "\(packets) packets of \(wire) bytes, protected, were on the wire")
  }

  /// No tag, HMAC-SHA1-32, HMAC-SHA1-80, GCM.
  private static let tagSizes: [Int64] = [0, 4, 10, 16]

  private func check(roundTrip claim: Claim, _ traffic: PeerTraffic) {
    guard case .real(let seconds)? = claim.entry["currentRoundTripTime"], !traffic.hasMeasured(seconds) else { return }
    tell(
      claim, "currentRoundTripTime \(Wording.decimal(seconds, places: 6)) s", "no check was answered after that time")
  }

  // MARK: Telling

  /// One entry of a report and its time.
  private struct Claim {
    let entry: StatsReport.Entry
    /// The media clock of its codec; nil without one.
    let clockRate: Int64?
    let peer: String
    let time: Instant

    /// The sources on which packets are sent again and corrected.
    var repairs: [UInt32] { ["rtxSsrc", "fecSsrc"].compactMap { entry.integer($0).flatMap { UInt32(exactly: $0) } } }
  }

  private func tell(_ claim: Claim, _ said: String, _ truth: String) {
    let actual = "\(claim.peer)'s \(claim.entry.type) says \(said) at \(Wording.time(claim.time)), and \(truth)"
    report(Violation(.honestStats, at: claim.time, actual: actual))
  }
}

extension StatsReport {
  /// Returns the media clock of a stream's codec, or the usual one of its kind where the report does not name it.
  fileprivate func clockRate(of entry: Entry) -> Int64? {
    codec(of: entry)?.integer("clockRate") ?? (entry.kind == "video" ? 90_000 : 48_000)
  }
}

extension StatsReport.Entry {
  func integer(_ member: String) -> Int64? {
    guard case .integer(let value)? = self[member] else { return nil }
    return value
  }
}
