internal import CallCore
internal import SimNet

/// Traces the media of a stack that does not report it: RTP packets, bare or relayed, as they pass the host.
///
/// A packet counts as sent when the program sent it, and as received when it reached the program's kernel: only the
/// program can authenticate it.
final class MediaOnTheWire {
  private let trace: Trace
  private let subject: TraceSubject
  private var hasSent = false

  init(_ trace: Trace, _ subject: TraceSubject) {
    self.trace = trace
    self.subject = subject
  }

  func sent(_ payload: RawSpan) {
    guard let (source, byteCount) = Self.packet(in: payload) else { return }
    if !hasSent { trace.write(PeerConnectionEvents.firstMediaSent, subject) }
    hasSent = true
    trace.write(PeerConnectionEvents.mediaSent, subject, source, byteCount, 0)
  }

  func received(_ payload: RawSpan) {
    guard let (source, byteCount) = Self.packet(in: payload) else { return }
    trace.write(PeerConnectionEvents.mediaReceived, subject, source, byteCount)
  }

  static func packet(in payload: RawSpan) -> (source: UInt32, byteCount: Int)? {
    guard let range = PacketContent.range(of: .rtp, in: payload),
      let source = payload.bigEndian(UInt32.self, at: range.lowerBound + 8)
    else { return nil }
    return (source, range.count)
  }
}
