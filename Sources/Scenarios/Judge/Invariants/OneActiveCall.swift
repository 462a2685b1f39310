internal import CallCore

/// A peer is in at most one active call: it never holds two peer connections.
final class OneActiveCall {
  private let report: (Violation) -> Void

  init(_ report: @escaping (Violation) -> Void) { self.report = report }

  func sampled(_ openConnections: Int, of peer: String, at time: Instant) {
    guard openConnections > 1 else { return }
    report(
      Violation(
        .oneActiveCall, at: time, actual: "\(peer) has \(openConnections) connections open at \(Wording.time(time))"))
  }
}
