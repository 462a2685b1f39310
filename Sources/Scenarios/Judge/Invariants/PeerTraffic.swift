internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// The traffic at one peer's interfaces, compared with the reports of its stack packet by packet.
final class PeerTraffic {
  /// The packets of one source that were sent.
  struct Sent {
    var packets: Int64 = 0
    var bytes: Int64 = 0

    mutating func add(_ media: WireMedia) {
      packets += 1
      bytes += Int64(media.byteCount)
    }
  }

  /// The packets of one source that arrived.
  final class Received {
    /// The packets that the stack accepted.
    var taken = ReceptionRecord()
    /// The number of packets that the stack did not report at their time or since.
    var ignored: Int64 = 0
    /// The packets that have just arrived.
    var pending: [WireMedia] = []
    /// The newest packets that the stack accepted, as a ring.
    private var newest: [UInt64] = []
    private var oldest = 0
    /// More than the replay window of SRTP (RFC 3711 section 3.3.2).
    private static let memory = 1_024

    /// Returns the packet that the stack reports as accepted. Of several at one instant it is one that did not come
    /// before: SRTP rejects replays.
    ///
    /// - Parameter events: the payload types of telephone events.
    func take(events: [UInt8]) -> WireMedia? {
      guard !pending.isEmpty else { return nil }
      let fresh = pending.count > 1 ? pending.firstIndex { !newest.contains($0.identity) } : 0
      let media = pending.remove(at: fresh ?? 0)
      if newest.count < Self.memory {
        newest.append(media.identity)
      } else {
        newest[oldest] = media.identity
        oldest = (oldest + 1) % Self.memory
      }
      taken.receive(media, isTimed: !events.contains(media.payloadType))
      return media
    }

    func settle(before time: Instant) {
      guard let first = pending.first, first.time < time else { return }
      let over = pending.prefix { $0.time < time }.count
      ignored += Int64(over)
      pending.removeFirst(over)
    }
  }

  /// What a session calls media that it cannot decrypt yet.
  private static let mediaBeforeKeys = PeerConnectionEvents.mediaBeforeKeys.description

  let peer: String
  private(set) var sent: [UInt32: Sent] = [:]
  private(set) var received: [UInt32: Received] = [:]
  /// The source of the packet that arrived last.
  private var newest: UInt32?
  /// The number of packets that the device could not send: no socket, no interface, no room.
  private(set) var unsent: Int64 = 0
  /// The number of packets that the stack or the host rejected.
  private(set) var refused: Int64 = 0
  /// Whether media or checks were sent over TCP connections, where they may wait.
  private(set) var usesConnections = false
  /// The times of the checks that may still be answered, oldest first.
  private var asked: [(transaction: UInt64, time: Instant)] = []
  /// The round trips in nanoseconds, distinct and sorted.
  private var roundTrips: [Int64] = []
  /// The shortest round trip of checks through relays, over UDP or TCP connections.
  private var shortestRelayed: Int64?
  /// The payload types of telephone events; none where the peer does not negotiate them. Our descriptions give them those
  /// of Chromium, by the clock of Opus and by that of the others.
  private let eventPayloadTypes: [UInt8]
  /// Called when the stack reports a packet that never arrived.
  var onForged: ((_ ssrc: UInt32, Instant) -> Void)?

  init(_ peer: String, _ context: MonitorContext) {
    self.peer = peer
    let formats = context.scenario.peer(peer)?.audio.formats ?? []
    eventPayloadTypes = formats.contains(.telephoneEvents) ? [110, 126] : []
    let watch = context.watch
    context.wire.listen(media: { [unowned self] media in if media.peer == peer { saw(media) } })
    context.wire.listen(checks: { [unowned self] check in if check.peer == peer { saw(check) } })
    for subject in context.scenario.peer(peer)?.connectionSubjects ?? [peer] {
      watch.listen(to: PeerConnectionEvents.mediaReceived, of: subject) { [unowned self] record, ssrc, _ in
        took(ssrc, at: record.time)
      }
      watch.listen(to: PeerConnectionEvents.packetUnsent, of: subject) { [unowned self] _, _ in unsent += 1 }
      watch.listen(to: PeerConnectionEvents.packetDiscarded, of: subject) { [unowned self] record, what, _ in
        refused += what == PeerConnectionEvents.lateData ? pendingOverTCP(at: record.time) : 1
        if what == Self.mediaBeforeKeys { missed(at: record.time) }
      }
    }
    watch.listen(to: NetworkEvents.packetDropped, of: peer) { [unowned self] record, reason, _, _, _, bytes in
      if reason == DropReason.noRoute.rawValue { unsent += 1 } else { refused += 1 }
      if reason == DropReason.noSocket.rawValue { missed(bytes, at: record.time) }
    }
  }

  private func saw(_ media: WireMedia) {
    switch media.direction {
    case .tx:
      sent[media.ssrc, default: Sent()].add(media)
      if media.transport == .tcp { usesConnections = true }
    case .rx:
      let source = received[media.ssrc] ?? Received()
      received[media.ssrc] = source
      source.settle(before: media.time)
      source.pending.append(media)
      newest = media.ssrc
    }
  }

  /// Notes that the datagram that has just arrived is not one of those that the stack takes at this instant: it came to a
  /// socket that is gone, or before the keys.
  private func missed(_ byteCount: Int? = nil, at time: Instant) {
    guard let source = newest.flatMap({ received[$0] }), let media = source.pending.last, media.time == time,
      media.transport == .udp, byteCount.map({ $0 == media.byteCount }) ?? true
    else { return }
    source.pending.removeLast()
    source.ignored += 1
  }

  /// Notes that the stack accepted a packet, which must have arrived at this instant.
  private func took(_ ssrc: UInt32, at time: Instant) {
    let source = received[ssrc]
    source?.settle(before: time)
    if source?.take(events: eventPayloadTypes) == nil { onForged?(ssrc, time) }
  }

  /// Returns the number of packets that have just arrived over TCP: one segment may hold several.
  private func pendingOverTCP(at time: Instant) -> Int64 {
    received.values.reduce(0) { sum, source in
      sum + Int64(source.pending.count { $0.transport == .tcp && $0.time == time })
    }
  }

  /// Settles the packets of a source at the end of an instant.
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

  /// Returns whether a check and its response had this distance, to the microsecond.
  ///
  /// A check through a relay may have waited for the connection, or for the permission, before it was sent.
  func hasMeasured(_ seconds: Double) -> Bool {
    let claimed = Interval.seconds(1).scaled(by: seconds)
    let next = place(of: (claimed - .microseconds(1)).nanoseconds)
    if next < roundTrips.endIndex, roundTrips[next] <= (claimed + .microseconds(1)).nanoseconds { return true }
    return shortestRelayed.map { ($0...Self.longestTransaction).contains(claimed.nanoseconds) } ?? false
  }

  /// Returns the index of the first round trip that is not shorter.
  private func place(of nanoseconds: Int64) -> Int {
    var range = 0..<roundTrips.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = roundTrips[middle] < nanoseconds ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// The time after which an unanswered check has been abandoned (RFC 8489 section 6.2.1).
  private static let longestTransaction = Interval.milliseconds(39_500).nanoseconds
}
