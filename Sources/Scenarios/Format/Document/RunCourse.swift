package import CallCore

/// What happened when in a run: the states of peers, the messages that servers passed on, and the connections to servers.
/// A search learns from it what a move can act on, and when.
package struct RunCourse: Sendable, Hashable {
  /// A time that a peer spent in a state of its main machine.
  package struct Stay: Sendable, Hashable {
    package var peer: String
    package var state: String
    package var from: Instant
    /// The time at which the state was left; nil if it lasted until the end of the run.
    package var until: Instant?

    package init(peer: String, state: String, from: Instant, until: Instant? = nil) {
      (self.peer, self.state, self.from, self.until) = (peer, state, from, until)
    }

    /// Whether the peer began in the state.
    package var isInitial: Bool { from == .zero }

    /// Returns whether the state lasts at a time.
    package func contains(_ time: Instant) -> Bool { from <= time && until.map { time < $0 } ?? true }
  }

  /// The first message of a type that passed a server.
  package struct Passage: Sendable, Hashable {
    package var server: String
    package var type: String
    package var time: Instant

    package init(server: String, type: String, time: Instant) {
      (self.server, self.type, self.time) = (server, type, time)
    }
  }

  /// A time in which a peer had a connection to a server.
  package struct Connection: Sendable, Hashable {
    package var server: String
    package var peer: String
    package var from: Instant
    /// The time at which the connection ended; nil if it lasted until the end of the run.
    package var until: Instant?

    package init(server: String, peer: String, from: Instant, until: Instant? = nil) {
      (self.server, self.peer, self.from, self.until) = (server, peer, from, until)
    }
  }

  /// The states of all peers, in the order in which they were entered.
  package var stays: [Stay] = []
  package var passages: [Passage] = []
  package var connections: [Connection] = []

  package init() {}

  /// Returns the first time at which a message of a type had passed a server; nil if none did.
  package func passage(of type: String, by server: String) -> Instant? {
    passages.first { $0.server == server && $0.type == type }?.time
  }
}
