package import CallCore

extension SCTPAssociation {
  /// Ends the association once everything was sent and acknowledged (RFC 9260 section 9.2).
  package mutating func shutdown(at now: Instant) {
    begin(at: now)
    switch state {
    case .established:
      state = .shutdownPending
      continueShutdown()
    case .closed: end(.shutdown)
    case .cookieWait, .cookieEchoed:
      sendAbort(SCTPErrorCause(.userInitiatedAbort))
      end(.shutdown)
    default: break
    }
  }

  /// Takes the next step of a shutdown when nothing is outstanding any more.
  mutating func continueShutdown() {
    guard block?.transmission.outstanding.isEmpty == true, queue.isEmpty else { return }
    switch state {
    case .shutdownPending:
      state = .shutdownSent
      shutdownTimer.start(settings.shutdownTimeout, at: now)
      repeatShutdown()
    case .shutdownReceived:
      state = .shutdownAckSent
      shutdownTimer.start(settings.shutdownTimeout, at: now)
      sendControl(.shutdownAck)
    default: break
    }
  }

  mutating func receiveShutdown(cumulativeTSN: UInt32) {
    switch state {
    case .established, .shutdownPending:
      acknowledgeByShutdown(cumulativeTSN)
      state = .shutdownReceived
      continueShutdown()
    case .shutdownReceived:
      acknowledgeByShutdown(cumulativeTSN)
      continueShutdown()
    case .shutdownSent:
      state = .shutdownAckSent
      shutdownTimer.start(settings.shutdownTimeout, at: now)
      sendControl(.shutdownAck)
    case .shutdownAckSent: sendControl(.shutdownAck)
    default: break
    }
  }

  /// A SHUTDOWN acknowledges like a SACK without gap blocks.
  private mutating func acknowledgeByShutdown(_ cumulativeTSN: UInt32) {
    guard let window = block?.transmission.peerWindow else { return }
    receiveSACK(SACKChunk(cumulativeTSN: cumulativeTSN, receiverWindow: UInt32(clamping: window)))
  }

  mutating func receiveShutdownAck(tag: UInt32) {
    switch state {
    case .shutdownSent, .shutdownAckSent:
      guard let block else { return }
      sendAlone(.shutdownComplete(isTagReflected: false), tag: block.peerTag)
      end(.shutdown)
    case .closed, .cookieWait, .cookieEchoed, .ended:
      // The peer has not heard that the association is over (section 8.4, 5).
      sendAlone(.shutdownComplete(isTagReflected: true), tag: tag)
    default: break
    }
  }

  mutating func receiveShutdownComplete() {
    if state == .shutdownAckSent { end(.shutdown) }
  }

  mutating func repeatShutdown() {
    guard let cumulative = block?.tracker.cumulativeTSN else { return }
    if state == .shutdownSent {
      sendControl(.shutdown(cumulativeTSN: TSN.wire(cumulative)))
    } else if state == .shutdownAckSent {
      sendControl(.shutdownAck)
    }
  }
}
