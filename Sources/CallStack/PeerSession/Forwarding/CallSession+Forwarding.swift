package import CallCore
internal import RTP
package import SDP

/// Forwarding of media between connections (RFC 7667 section 3.7), for a session that
/// ``SessionConfiguration/forwards``.
extension CallSession {
  /// Sends a packet that another session received.
  ///
  /// - Parameter sender: the sender whose track is what the other one receives.
  package func forward(_ packet: ForwardedPacket, to sender: Transceiver.ID, at now: Instant) {
    guard enter(at: now), media.isRunning, canSendMedia else { return }
    media.forward(packet, to: sender, at: self.now, events: &events)
  }

  /// Asks the remote side for a key frame of an encoding that a transceiver receives.
  package func requestKeyFrame(of transceiver: Transceiver.ID, encoding: Int, at now: Instant) {
    guard enter(at: now) else { return }
    media.requestKeyFrame(of: transceiver, encoding: encoding, at: self.now)
  }

  /// Enables or disables the forwarding of one sender, or with nil of all present and future ones.
  package func setForwardingEnabled(_ enabled: Bool, of sender: Transceiver.ID?) {
    media.setForwardingEnabled(enabled, of: sender)
  }

  /// Sets what is done with the video of a sender that the way does not hold.
  package func setForwardingPolicy(_ policy: ForwardingPolicy, of sender: Transceiver.ID) {
    media.setForwardingPolicy(policy, of: sender)
  }

  /// Returns where a packet of a forwarded stream comes from: the SSRC and the timestamp with which it was received;
  /// nil for a source that does not forward.
  package func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    for case .forwarding(let channel) in media.channels where channel.send?.rtp.ssrc == ssrc {
      return channel.send?.origin(of: timestamp)
    }
    return nil
  }
}
