internal import CallCore
internal import CongestionControl
internal import SDP

/// The channels of a connection that forwards.
extension MediaTransport {
  /// Sends a packet that another connection received.
  func forward(
    _ packet: ForwardedPacket, to sender: Transceiver.ID, at now: Instant, events: inout FIFO<SessionOutput>
  ) {
    guard case .forwarding(let channel)? = knownChannel(of: sender) else { return }
    channel.forward(packet, into: &pacer, at: now)
    while let encoding = channel.send?.takeKeyFrameNeed() {
      events.append(.keyFrameNeeded(sender: sender, encoding: encoding))
    }
    if let isPaused = channel.send?.takePauseChange() {
      events.append(.forwardingChange(isPaused: isPaused, sender: sender))
    }
  }

  func setForwardingPolicy(_ policy: ForwardingPolicy, of sender: Transceiver.ID) {
    if case .forwarding(let channel)? = knownChannel(of: sender) { channel.policy = policy }
  }

  /// Passes on that receivers have asked for key frames.
  func passKeyFrameNeeds(to events: inout FIFO<SessionOutput>) {
    for case .forwarding(let channel) in channels {
      while let encoding = channel.send?.takeKeyFrameNeed() {
        events.append(.keyFrameNeeded(sender: channel.state.transceiver, encoding: encoding))
      }
    }
  }

  func requestKeyFrame(of transceiver: Transceiver.ID, encoding: Int, at now: Instant) {
    expectFeedback()
    if case .forwarding(let channel)? = knownChannel(of: transceiver) {
      channel.receive?.requestKeyFrame(of: encoding, at: now)
    }
  }

  func setForwardingEnabled(_ enabled: Bool, of sender: Transceiver.ID?) {
    if sender == nil { forwardsTracks = enabled }
    for case .forwarding(let channel) in channels where channel.state.isMeant(by: sender) {
      channel.isEnabled = enabled
    }
  }
}
