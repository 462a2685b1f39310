/// The congestion window of an association (RFC 9260 section 7.2).
struct CongestionControl: Sendable {
  private let mtu: Int
  private let minimumWindow: Int
  private(set) var window: Int
  private(set) var slowStartThreshold: Int
  private(set) var partialBytesAcked = 0
  /// The TSN whose cumulative acknowledgment ends fast recovery.
  private(set) var fastRecoveryExit: Int64?

  init(mtu: Int, initialPackets: Int, minimumPackets: Int, receiverWindow: Int) {
    self.mtu = mtu
    minimumWindow = minimumPackets * mtu
    window = initialPackets * mtu
    slowStartThreshold = receiverWindow
  }

  var isInFastRecovery: Bool { fastRecoveryExit != nil }
  var isInSlowStart: Bool { window <= slowStartThreshold }

  /// Ends fast recovery if its exit point is acknowledged.
  mutating func leaveFastRecovery(at cumulativeTSN: Int64) {
    if let exit = fastRecoveryExit, cumulativeTSN >= exit { fastRecoveryExit = nil }
  }

  /// Grows the window after a SACK that advanced the cumulative TSN.
  ///
  /// - Parameter flight: the bytes in flight before the SACK.
  mutating func advance(acknowledged bytes: Int, flight: Int) {
    // Less than one packet may be left of a window that counts as used.
    let isUsed = flight + mtu >= window
    if isInSlowStart {
      if isUsed, !isInFastRecovery { window += min(bytes, mtu) }
    } else {
      partialBytesAcked += bytes
      if partialBytesAcked >= window, isUsed {
        partialBytesAcked -= window
        window += mtu
      }
    }
  }

  /// Halves the window after a loss, once until everything sent so far is acknowledged (section 7.2.4).
  mutating func lose(highestOutstanding: Int64) {
    guard !isInFastRecovery else { return }
    slowStartThreshold = max(window / 2, minimumWindow)
    window = slowStartThreshold
    partialBytesAcked = 0
    fastRecoveryExit = highestOutstanding
  }

  /// Shrinks the window to one packet after a timeout (section 7.2.3). Fast recovery ends, or the window could not grow.
  mutating func timeOut() {
    slowStartThreshold = max(window / 2, minimumWindow)
    window = mtu
    partialBytesAcked = 0
    fastRecoveryExit = nil
  }
}
