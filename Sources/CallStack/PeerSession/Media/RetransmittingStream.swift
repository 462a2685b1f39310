internal import CallCore
internal import CongestionControl
internal import RTP

/// A stream that sends lost packets again when it is asked.
protocol RetransmittingStream: AnyObject {
  /// Whether a packet is asked for that was not sent again or refused.
  var isAskedAgain: Bool { get }

  func refuseRetransmission()
  /// Writes the next packet that is asked for.
  func takeRetransmission(into output: inout OutputSpan<UInt8>, at now: Instant) -> OutgoingPacket?
}

extension RetransmittingStream {
  /// Hands the requested retransmissions to the pacer, as far as the limit allows.
  func retransmit(into pacer: inout Pacer, limiter: inout RetransmissionLimiter, at now: Instant) {
    while isAskedAgain {
      guard limiter.admits(at: now) else {
        refuseRetransmission()
        continue
      }
      var byteCount = 0
      let isQueued = pacer.enqueue(.retransmission, at: now) { output in
        defer { byteCount = output.count }
        return takeRetransmission(into: &output, at: now)
      }
      guard isQueued else { return }
      limiter.sent(byteCount: byteCount, at: now)
    }
  }
}
