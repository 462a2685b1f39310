import CallCore

@testable import CongestionControl

/// Senders that share a link, in virtual time. Nothing happens between whole milliseconds but on the link.
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

  /// Runs for some time.
  func run(milliseconds: Int64) {
    let end = now + .milliseconds(milliseconds)
    while now < end {
      now = min(max(now + .milliseconds(1), nextDue.nextMillisecond), end)
      step()
    }
  }

  func run(seconds: Int64) { run(milliseconds: seconds * 1_000) }

  private func step() {
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
  }

  /// The time at which something happens next.
  private var nextDue: Instant {
    if rival != nil { return now }
    var due = link.nextDue ?? now + .seconds(1)
    for sender in senders { due = min(due, sender.nextDue) }
    return due
  }
}

extension Instant {
  fileprivate var nextMillisecond: Instant {
    Instant(nanoseconds: (max(0, nanoseconds) + 999_999) / 1_000_000 * 1_000_000)
  }
}
