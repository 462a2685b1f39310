public import CallCore

/// What comes out of a session beside datagrams, in order.
public enum SessionOutput: Sendable {
  /// For the driver alone, which has to do it.
  case command(SessionCommand)
  /// For the application.
  case event(SessionEvent)
  /// For whoever watches.
  case observation(SessionObservation)
}

/// What a session needs of its driver.
public enum SessionCommand: Hashable, Sendable {
  /// An ICE restart gathers on sockets of its own, or a TURN server remembers another client at the port of this one
  /// (437, RFC 8656 section 7.4): the driver opens another at the same address, and says where with
  /// ``CallSession/supply(_:for:at:)``. It lives until ``socketUnneeded(_:)``, or until that address is gone.
  case socketNeeded(Endpoint)
  /// Nothing is sent any more from a socket that was opened for ``socketNeeded(_:)``: the driver closes it.
  case socketUnneeded(Endpoint)
  /// The session needs the connection that it used as this path no more: the driver closes it, once what it was given
  /// to send has gone.
  case streamUnneeded(Path)
  /// A remote candidate has a name instead of an address: the driver asks for it, and says what it found with
  /// ``CallSession/nameResolved(_:to:at:)``.
  case nameResolutionNeeded(String)
}

extension FIFO<SessionOutput> {
  mutating func append(_ command: SessionCommand) { append(.command(command)) }
  mutating func append(_ event: SessionEvent) { append(.event(event)) }
  mutating func append(_ observation: SessionObservation) { append(.observation(observation)) }
}
