internal import CallCore

/// The state of an association with a known peer (RFC 9260 section 14).
struct TransmissionControlBlock: Sendable {
  let peerTag: UInt32
  /// The number by which the peer's restart is recognised (section 5.2.2).
  let tieTag: UInt64
  let capabilities: SCTPCapabilities
  var timeout: RetransmissionTimeout
  var tracker: DataTracker
  var reassembly: ReassemblyQueue
  var transmission: TransmissionQueue
  var reset: StreamReset

  init(
    settings: SCTPSettings, ownInitialTSN: UInt32, peerTag: UInt32, peerInitialTSN: UInt32, peerWindow: UInt32,
    tieTag: UInt64, capabilities: SCTPCapabilities
  ) {
    self.peerTag = peerTag
    self.tieTag = tieTag
    self.capabilities = capabilities
    timeout = RetransmissionTimeout(settings.timeout)
    tracker = DataTracker(initialTSN: peerInitialTSN)
    reassembly = ReassemblyQueue(capacity: settings.receiveBuffer)
    transmission = TransmissionQueue(
      settings: settings, initialTSN: ownInitialTSN, peerWindow: peerWindow,
      supportsForwardTSN: capabilities.supportsForwardTSN)
    reset = StreamReset(
      ownInitialTSN: ownInitialTSN, peerInitialTSN: peerInitialTSN, maximumBackoff: settings.maximumBackoff)
  }
}
