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
  /// The identity of the frame that was written, as `signal.arrived` has it.
  package internal(set) var frame: UInt64?

  package init() {}
}
