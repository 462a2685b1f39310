internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// What one peer's interfaces carried, beside what its stack says of it, packet by packet.
final class PeerTraffic {
  /// One source's packets on their way out.
  struct Sent {
    var packets: Int64 = 0
    var bytes: Int64 = 0
  }

  /// One source's packets that arrived.
  struct Received {
    /// Those the stack took.
    var taken = ReceptionRecord()
    /// Those it said nothing of, at the time or since.
    var ignored: Int64 = 0
    /// Those that have just arrived.
    var pending: [WireMedia] = []
    /// The newest that the stack took, as a ring.
    private var newest: [UInt64] = []
    private var oldest = 0
    /// More than SRTP looks back for replays (RFC 3711 section 3.3.2).
    private static let memory = 1_024

    /// The one that the stack says it took. Of several at one instant it is none that came before: that is refused.
    mutating func take() -> WireMedia? {
      guard !pending.isEmpty else { return nil }
      let fresh = pending.count > 1 ? pending.firstIndex { !newest.contains($0.identity) } : 0
      let media = pending.remove(at: fresh ?? 0)
      if newest.count < Self.memory {
        newest.append(media.identity)
      } else {
        newest[oldest] = media.identity
        oldest = (oldest + 1) % Self.memory
      }
      taken.receive(media)
      return media
    }

    mutating func settle(before time: Instant) {
      let over = pending.prefix { $0.time < time }.count
      ignored += Int64(over)
      pending.removeFirst(over)
    }
  }

  let peer: String
  private(set) var sent: [UInt32: Sent] = [:]
  private(set) var received: [UInt32: Received] = [:]
  /// What the device could not send: no socket, no interface, no room.
  private(set) var unsent: Int64 = 0
  /// What the stack refused, or the host before it.
  private(set) var refused: Int64 = 0
  /// Whether media or checks left by a connection, where they may wait.
  private(set) var usesConnections = false
  /// When checks left, those that may still be answered, oldest first.
  private var asked: [(transaction: UInt64, time: Instant)] = []
  /// In nanoseconds, each once, in order.
  private var roundTrips: [Int64] = []
  /// Of the checks through relays, over UDP or on connections.
  private var shortestRelayed: Int64?
  /// Told when the stack says that it took a packet that never arrived.
  var onForged: ((_ ssrc: UInt32, Instant) -> Void)?

  init(_ peer: String, _ context: MonitorContext) {
    self.peer = peer
    let watch = context.watch
    context.wire.listen(media: { [unowned self] media in if media.peer == peer { saw(media) } })
    context.wire.listen(checks: { [unowned self] check in if check.peer == peer { saw(check) } })
    for subject in context.scenario.peer(peer)?.connectionSubjects ?? [peer] {
      watch.listen(to: PeerConnectionEvents.mediaReceived, of: subject) { [unowned self] record, ssrc, _ in
        took(ssrc, at: record.time)
      }
      watch.listen(to: PeerConnectionEvents.packetUnsent, of: subject) { [unowned self] _, _ in unsent += 1 }
      watch.listen(to: PeerConnectionEvents.packetDiscarded, of: subject) { [unowned self] _, _, _ in refused += 1 }
    }
    watch.listen(to: NetworkEvents.packetDropped, of: peer) { [unowned self] _, reason, _, _, _, _ in
      if reason == DropReason.noRoute.rawValue { unsent += 1 } else { refused += 1 }
    }
  }

  private func saw(_ media: WireMedia) {
    switch media.direction {
    case .tx:
      sent[media.ssrc, default: Sent()].packets += 1
      sent[media.ssrc, default: Sent()].bytes += Int64(media.byteCount)
      if media.transport == .tcp { usesConnections = true }
    case .rx:
      received[media.ssrc, default: Received()].settle(before: media.time)
      received[media.ssrc, default: Received()].pending.append(media)
    }
  }

  /// The stack says that it took a packet: it must have arrived at this very instant.
  private func took(_ ssrc: UInt32, at time: Instant) {
    received[ssrc]?.settle(before: time)
    if received[ssrc]?.take() == nil { onForged?(ssrc, time) }
  }

  /// Nothing more happens at this time.
  func settle(_ ssrc: UInt32, at time: Instant) { received[ssrc]?.settle(before: time + .nanoseconds(1)) }

  // MARK: Round trips

  private func saw(_ check: WireCheck) {
    if check.transport == .tcp { usesConnections = true }
    switch (check.direction, check.isRequest) {
    case (.tx, true):
      let over = asked.prefix { (check.time - $0.time).nanoseconds > Self.longestTransaction }.count
      asked.removeFirst(over)
      asked.append((check.transaction, check.time))
    case (.rx, false):
      for (transaction, time) in asked where transaction == check.transaction {
        let roundTrip = (check.time - time).nanoseconds
        let place = place(of: roundTrip)
        if place == roundTrips.endIndex || roundTrips[place] != roundTrip { roundTrips.insert(roundTrip, at: place) }
        if check.isRelayed { shortestRelayed = min(shortestRelayed ?? roundTrip, roundTrip) }
      }
    default: break
    }
  }

  /// Whether some check and its answer were so far apart, to the microsecond.
  ///
  /// A check through a relay may have waited for the connection, or for the permission, before the wire saw it.
  func hasMeasured(_ seconds: Double) -> Bool {
    let claimed = Interval.seconds(1).scaled(by: seconds)
    let next = place(of: (claimed - .microseconds(1)).nanoseconds)
    if next < roundTrips.endIndex, roundTrips[next] <= (claimed + .microseconds(1)).nanoseconds { return true }
    return shortestRelayed.map { ($0...Self.longestTransaction).contains(claimed.nanoseconds) } ?? false
  }

  /// Where the first round trip is that is no shorter.
  private func place(of nanoseconds: Int64) -> Int {
    var range = 0..<roundTrips.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = roundTrips[middle] < nanoseconds ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// What is not answered by then has been given up (RFC 8489 section 6.2.1).
  private static let longestTransaction = Interval.milliseconds(39_500).nanoseconds
}
