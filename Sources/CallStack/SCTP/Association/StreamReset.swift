internal import CallCore

/// The resets of streams: one request of ours at a time, and the peer's last one (RFC 6525 section 5).
struct StreamReset: Sendable {
  /// A request of ours that the peer has not answered finally.
  struct Request: Sendable {
    var number: UInt32
    var lastTSN: UInt32
    var streams: [UInt16]
    /// Whether the peer has answered that it will perform the request later.
    var isInProgress = false
  }

  private(set) var request: Request?
  /// The streams that the next request will reset, in the order in which that was asked.
  private(set) var waiting: [UInt16] = []
  private(set) var timer: SCTPTimer
  private var nextNumber: UInt32
  /// The number of the peer's last request, and the answer to it.
  private var peerNumber: UInt32
  private var peerResult = ReconfigurationParameter.Result.nothingToDo

  init(ownInitialTSN: UInt32, peerInitialTSN: UInt32, maximumBackoff: Interval?) {
    nextNumber = ownInitialTSN
    peerNumber = peerInitialTSN &- 1
    timer = SCTPTimer(maximumBackoff: maximumBackoff)
  }

  // MARK: Own requests

  /// Whether a stream waits for its reset.
  func isResetting(_ stream: UInt16) -> Bool {
    waiting.contains(stream) || request?.streams.contains(stream) ?? false
  }

  mutating func add(_ streams: [UInt16]) {
    for stream in streams where !isResetting(stream) { waiting.append(stream) }
  }

  /// Begins a request for the waiting streams that have nothing to send, and returns it, or nil.
  mutating func begin(_ queue: borrowing SendQueue, lastTSN: UInt32, timeout: Interval, at now: Instant)
    -> ReconfigurationParameter?
  {
    guard request == nil, !waiting.isEmpty else { return nil }
    // A request of this many streams fits every packet.
    var ready: [UInt16] = []
    var later: [UInt16] = []
    for stream in waiting {
      if ready.count < 256, queue.isEmpty(stream) { ready.append(stream) } else { later.append(stream) }
    }
    guard !ready.isEmpty else { return nil }
    waiting = later
    request = Request(number: nextNumber, lastTSN: lastTSN, streams: ready)
    nextNumber &+= 1
    timer.start(timeout, at: now)
    return parameter
  }

  /// Returns whether the timer has expired; then the request is sent again.
  mutating func advance(to now: Instant) -> Bool { timer.expires(at: now) }

  /// The request as it is sent, or nil if there is none.
  var parameter: ReconfigurationParameter? {
    request.map {
      .outgoingReset(
        .init(requestNumber: $0.number, responseNumber: peerNumber, lastTSN: $0.lastTSN, streams: $0.streams))
    }
  }

  /// Takes the peer's response and returns the request that it ends, with whether the streams are reset.
  mutating func receive(
    _ result: ReconfigurationParameter.Result, number: UInt32, timeout: Interval, at now: Instant
  ) -> (streams: [UInt16], isPerformed: Bool)? {
    guard let present = request, present.number == number else { return nil }
    switch result {
    case .inProgress:
      // The same request again later (section 5.2.7).
      request?.isInProgress = true
      timer.start(timeout, at: now)
      return nil
    case .nothingToDo, .performed:
      request = nil
      timer.stop()
      return (present.streams, true)
    case .denied, .wrongSSN, .requestInProgress, .badSequenceNumber:
      request = nil
      timer.stop()
      return (present.streams, false)
    }
  }

  // MARK: Requests of the peer

  /// The way to treat a request of the peer, by its number.
  enum Treatment: Equatable {
    case process
    case answer(ReconfigurationParameter.Result)
  }

  /// Returns how to treat a request: a repeated one gets its answer again, unless it was only in progress.
  func treatment(of number: UInt32) -> Treatment {
    if number == peerNumber { return peerResult == .inProgress ? .process : .answer(peerResult) }
    return number == peerNumber &+ 1 ? .process : .answer(.badSequenceNumber)
  }

  mutating func answered(_ number: UInt32, with result: ReconfigurationParameter.Result) {
    peerNumber = number
    peerResult = result
  }
}
