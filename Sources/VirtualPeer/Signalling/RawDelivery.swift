package import CallCore

/// The way of one raw message from its server to the device of its addressee.
package final class RawDelivery {
  package enum State: Equatable {
    /// The server has not sent it: its addressee never had a connection, or the server did not pass it on.
    case atServer
    /// A fault holds it.
    case held
    /// A fault has taken it, as scenarios intend.
    case taken
    /// It left for a connection that was over.
    case unconnected(Instant)
    /// It was written to the connection of its addressee.
    case left(Instant)
  }

  package var state = State.atServer
  /// The identities of the frames that were written, as `signal.arrived` has them: two if a fault duplicates it.
  package private(set) var frames: [UInt64] = []

  package init() {}

  /// A fault has taken it, or a copy of it.
  func taken() { if frames.isEmpty { state = .taken } }

  /// - Parameter frame: nil if the connection was over or silenced.
  func left(as frame: UInt64?, at time: Instant) {
    state = frame == nil ? .unconnected(time) : .left(time)
    if let frame { frames.append(frame) }
  }
}
