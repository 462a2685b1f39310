import CallCore

/// Times the packets of probes (libwebrtc `BitrateProber`).
///
/// A probe waits for a packet that is large enough. Then, in each slot, packets of about the slot's share of the rate
/// leave at once.
struct ProbeSender: Sendable {
  private var clusters = FIFO<ProbeCluster>()
  /// Whether the first cluster is being sent.
  private(set) var isActive = false
  /// The start of the first cluster, and its packets so far.
  private var started: Instant?
  private(set) var sentByteCount = 0
  private var sentCount = 0
  /// The bytes of the current slot.
  private var slotByteCount = 0
  /// The time of the next slot; nil for at once.
  private var next: Instant?

  /// The number of clusters that may wait, and the time for which one does.
  private static let limit = 5
  private static let timeout = Interval.seconds(5)
  /// The delay of a slot after which its cluster is given up.
  private static let maximumDelay = Interval.milliseconds(10)
  private static let minimumPacket = 200

  /// The cluster that the next packet belongs to.
  var cluster: ProbeCluster? { isActive ? clusters.first : nil }

  /// The time of the next slot, or the zero of time for at once; nil while no cluster is sent.
  var deadline: Instant? { cluster == nil ? nil : next ?? .zero }

  /// The bytes that are left of the current slot.
  var wantedByteCount: Int { max(0, slotSize - slotByteCount) }

  private var slotSize: Int { clusters.first.map { $0.rate.byteCount(in: $0.slot) } ?? 0 }

  mutating func append(_ cluster: ProbeCluster) {
    while let first = clusters.first, cluster.requested - first.requested > Self.timeout || clusters.count >= Self.limit
    {
      advance()
    }
    clusters.append(cluster)
  }

  /// Begins with the first cluster when a packet is large enough to probe with.
  mutating func enqueued(byteCount: Int) {
    guard !isActive, !clusters.isEmpty, byteCount >= min(slotSize, Self.minimumPacket) else { return }
    isActive = true
    next = nil
  }

  /// Gives up a cluster of which a slot is too late.
  mutating func expire(at now: Instant) {
    guard isActive, let next, now - next > Self.maximumDelay else { return }
    advance()
  }

  mutating func sent(byteCount: Int, at now: Instant) {
    guard let cluster else { return }
    if started == nil { started = now }
    sentByteCount += byteCount
    slotByteCount += byteCount
    sentCount += 1
    if slotByteCount >= slotSize { endSlot() }
    guard sentByteCount >= cluster.byteCount, sentCount >= cluster.packetCount else { return }
    advance()
  }

  /// Ends a slot, when enough is sent or there is nothing left to send.
  mutating func endSlot() {
    guard let cluster, let started else { return }
    slotByteCount = 0
    next = started + cluster.rate.transmissionTime(byteCount: sentByteCount)
  }

  private mutating func advance() {
    _ = clusters.popFirst()
    (started, sentByteCount, sentCount, slotByteCount, next) = (nil, 0, 0, 0, nil)
    if clusters.isEmpty { isActive = false }
  }
}
