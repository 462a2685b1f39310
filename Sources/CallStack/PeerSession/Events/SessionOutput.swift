public import CallCore
public import SDP

/// An output of a session other than a datagram; outputs are in order.
public enum SessionOutput: Sendable {
  /// A command that the driver must execute.
  case command(SessionCommand)
  /// An event for the application.
  case event(SessionEvent)
  /// An observation for traces and judges.
  case observation(SessionObservation)
  /// A picture of a remote track, at the time at which it is shown.
  case video(RenderedVideoFrame)
  /// A packet of media for other connections; only of a session that ``SessionConfiguration/forwards``.
  case packet(ForwardedPacket)
}

/// A request of a session to its driver.
public enum SessionCommand: Hashable, Sendable {
  /// An ICE restart needs a socket of its own, or a TURN server still holds an allocation of another client at this
  /// port (437, RFC 8656 section 7.4): the driver opens another socket on the same address, and passes its address to
  /// ``CallSession/supply(_:for:at:)``. The socket lives until ``socketUnneeded(_:)``, or until that address is gone.
  case socketNeeded(Endpoint)
  /// A socket opened for ``socketNeeded(_:)`` is no longer used: the driver closes it.
  case socketUnneeded(Endpoint)
  /// The session no longer needs the connection that it used as this path: the driver closes it once all queued bytes
  /// are sent.
  case streamUnneeded(Path)
  /// A remote candidate has a name instead of an address: the driver resolves it, and passes the address to
  /// ``CallSession/nameResolved(_:to:at:)``.
  case nameResolutionNeeded(String)
  /// The track that a sender forwards must go on with a key frame: the driver calls
  /// ``CallSession/requestKeyFrame(of:encoding:at:)`` of the session that receives it.
  case keyFrameNeeded(sender: Transceiver.ID, encoding: Int)
}

extension FIFO<SessionOutput> {
  mutating func append(_ command: SessionCommand) { append(.command(command)) }
  mutating func append(_ event: SessionEvent) { append(.event(event)) }
  mutating func append(_ observation: SessionObservation) { append(.observation(observation)) }
  mutating func append(_ frame: RenderedVideoFrame) { append(.video(frame)) }
  mutating func append(_ packet: ForwardedPacket) { append(.packet(packet)) }
}
