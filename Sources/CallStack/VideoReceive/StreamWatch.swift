import CallCore

/// Watches whether a stream goes on, and when it has waited too long for a frame.
struct StreamWatch: Sendable {
  enum Outcome: Hashable, Sendable {
    case nothing, keyFrameNeeded
    /// No packet has arrived for so long that the sender is taken to have stopped.
    case paused
  }

  /// The times that libwebrtc waits for a key frame and for any frame.
  private static let keyFrameWait = Interval.milliseconds(200)
  private static let frameWait = Interval.seconds(3)
  /// The silence after which a sender is taken to have stopped.
  private static let inactivity = Interval.seconds(5)

  private let waits: (key: Interval, frame: Interval)
  private var lastPacket: Instant?
  private var lastKeyPacket: Instant?
  private var lastError: Instant?
  /// Whether nothing but a key frame can be decoded.
  private(set) var isKeyFrameRequired = true
  var hasReceivedFrame = false
  /// The end of the wait for a picture; nil while the sender has stopped.
  private(set) var deadline: Instant?

  /// - Parameter retransmissionTime: the time that lost packets can be had for.
  init(retransmissionTime: Interval) {
    let tripled = retransmissionTime * 3
    let isShort = retransmissionTime > .zero && tripled < Self.frameWait
    waits = isShort ? (retransmissionTime, tripled) : (Self.keyFrameWait, Self.frameWait)
  }

  private var wait: Interval { isKeyFrameRequired ? waits.key : waits.frame }

  mutating func packetArrived(at now: Instant) {
    lastPacket = now
    if deadline == nil { deadline = now + wait }
  }

  mutating func keyPacketArrived(at now: Instant) { lastKeyPacket = now }

  mutating func pictureTaken(isKeyFrame: Bool, at now: Instant) {
    if isKeyFrame { isKeyFrameRequired = false }
    deadline = now + wait
  }

  /// Returns whether the error calls for a request now: the first one, and again after a wait.
  mutating func decodingFailed(at now: Instant) -> Bool {
    let isRepeated = isKeyFrameRequired && lastError.map { now - $0 < waits.key } ?? false
    isKeyFrameRequired = true
    guard !isRepeated else { return false }
    lastError = now
    deadline = now + wait
    return true
  }

  mutating func advance(to now: Instant) -> Outcome {
    guard let deadline, now >= deadline else { return .nothing }
    guard let lastPacket, now - lastPacket < Self.inactivity else {
      self.deadline = nil
      return .paused
    }
    self.deadline = now + wait
    // A key frame that is arriving needs no request.
    if let lastKeyPacket, now - lastKeyPacket < waits.key { return .nothing }
    return .keyFrameNeeded
  }
}
