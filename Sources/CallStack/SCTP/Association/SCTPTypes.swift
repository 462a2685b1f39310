/// The state of an association (RFC 9260 section 4).
package enum SCTPAssociationState: String, Sendable {
  case closed, cookieWait, cookieEchoed, established, shutdownPending, shutdownSent, shutdownReceived, shutdownAckSent
  /// The association is over and cannot be opened again.
  case ended
}

/// The reason why an association ended.
package enum SCTPClosure: Hashable, Sendable {
  /// Both sides had sent everything.
  case shutdown
  /// The user aborted the association.
  case aborted
  /// The peer aborted the association, with these causes.
  case peerAborted([SCTPErrorCause])
  /// The peer did not answer.
  case timedOut
  /// The peer violated the protocol, or sent more than fits the receive buffer, and was sent this cause.
  case failed(SCTPErrorCause.Code)
}

/// An event of an association.
package enum SCTPEvent: Hashable, Sendable {
  case established
  /// The peer lost its state and made a new association. Messages that it had not acknowledged are lost.
  case restarted
  case message(SCTPMessage)
  /// The peer has reset its outgoing streams; all if none is listed.
  case incomingStreamsReset([UInt16])
  /// The peer has confirmed the reset of our outgoing streams.
  case outgoingStreamsReset([UInt16])
  /// The peer has refused the reset of our outgoing streams.
  case streamResetRefused([UInt16])
  case closed(SCTPClosure)
}

/// An error in the use of an association.
package enum SCTPError: Error, Hashable, Sendable {
  case notEstablished
  /// The stream is beyond those that the peer accepts.
  case noSuchStream
  case streamIsReset
  case emptyMessage
  case sendBufferFull
}

/// The counters of an association.
package struct SCTPCounters: Hashable, Sendable {
  package var packetsSent = 0
  package var packetsReceived = 0
  /// Packets that were too short or ended in a malformed chunk.
  package var malformed = 0
  /// Packets with a wrong checksum.
  package var wrongChecksum = 0
  /// Packets with a wrong verification tag.
  package var wrongTag = 0
  /// Packets with other ports.
  package var wrongPort = 0
  /// Cookies that were not ours, or were used in a state that has no use for them.
  package var refusedCookies = 0
  /// Chunks of unknown types.
  package var unknownChunks = 0
  /// DATA chunks that were refused: there was no room, the stream does not exist, or the TSN was too far ahead.
  package var refusedData = 0
  /// ERROR chunks of the peer.
  package var errorsReceived = 0
  /// Answers that were dropped because too many waited.
  package var droppedAnswers = 0
}
