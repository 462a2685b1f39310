package import CallCore
package import CallSession

/// What the connections of one peer share.
package final class ConnectionEnvironment {
  let clock: PeerClock
  let network: PeerNetwork
  let device: Device
  let random: RandomSource
  let media: MediaFidelity
  /// Gets every sample the speaker plays, 48 kHz mono.
  let heard: ((Span<Int16>) -> Void)?
  var onClose: ((PeerConnection) -> Void)?
  private let trace: Trace
  private let peer: String
  private let keyLog: ((String) -> Void)?

  package init(
    peer: String, clock: PeerClock, network: PeerNetwork, device: Device, random: RandomSource, media: MediaFidelity,
    trace: Trace, keyLog: ((String) -> Void)?, heard: ((Span<Int16>) -> Void)?
  ) {
    self.peer = peer
    self.clock = clock
    self.network = network
    self.device = device
    self.random = random
    self.media = media
    self.trace = trace
    self.keyLog = keyLog
    self.heard = heard
  }

  func makeTrace() -> ConnectionTrace { ConnectionTrace(trace: trace, peer: peer, keyLog: keyLog) }

  func connectionClosed(_ connection: PeerConnection) { onClose?(connection) }
}
