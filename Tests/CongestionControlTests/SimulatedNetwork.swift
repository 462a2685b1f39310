import CallCore

@testable import CongestionControl

/// Senders that share a link, in virtual time with steps of a millisecond.
final class SimulatedNetwork {
  var link: SimulatedLink
  let senders: [SimulatedSender]
  var rival: SimulatedRival?
  /// The delay of the feedback's path, and the end of its interruption.
  var returnDelay: Interval
  var returnBlockedUntil = Instant.zero
  private(set) var now = Instant.zero

  init(
    rate: Int64, delay: Int64, returnDelay: Int64? = nil, senders: [SimulatedSender] = [SimulatedSender()],
    seed: UInt64 = 1
  ) {
    link = SimulatedLink(rate: .kilobitsPerSecond(rate), delay: .milliseconds(delay), seed: seed)
    self.returnDelay = .milliseconds(returnDelay ?? delay)
    self.senders = senders
  }

  /// Runs for some time, and calls `observe` each 100 ms.
  func run(milliseconds: Int64, observe: () -> Void = {}) {
    for step in 1...milliseconds {
      now += .milliseconds(1)
      for sender in senders { sender.run(into: &link, at: now) }
      rival?.run(into: &link, at: now)
      while let packet = link.receive(at: now) {
        if packet.owner >= 0 {
          senders[packet.owner].receive(packet)
        } else {
          rival?.receive(packet)
        }
      }
      for sender in senders {
        sender.lostCount += link.takeLosses(of: sender.index)
        sender.giveFeedback(delay: returnDelay, blockedUntil: returnBlockedUntil, at: now)
      }
      if step % 100 == 0 { observe() }
    }
  }

  func run(seconds: Int64, observe: () -> Void = {}) { run(milliseconds: seconds * 1_000, observe: observe) }
}
