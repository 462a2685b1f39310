/// The extensions and limits that both sides agreed on.
struct SCTPCapabilities: Hashable, Sendable {
  var supportsForwardTSN: Bool
  var supportsReconfiguration: Bool
  var usesZeroChecksum: Bool
  var inboundStreams: UInt16
  var outboundStreams: UInt16

  /// Agrees with a peer by its INIT or INIT ACK.
  init(_ settings: SCTPSettings, peer: InitChunk) {
    let extensions = peer.parameters.supportedExtensions
    supportsForwardTSN =
      settings.offersPartialReliability
      && (peer.parameters.supportsForwardTSN || extensions.contains(SCTPChunkType.forwardTSN.rawValue))
    supportsReconfiguration =
      settings.offersReconfiguration && extensions.contains(SCTPChunkType.reconfiguration.rawValue)
    usesZeroChecksum =
      settings.offersZeroChecksum && peer.parameters.zeroChecksumMethod == InitParameters.zeroChecksumByDTLS
    inboundStreams = min(settings.inboundStreams, peer.outboundStreams)
    outboundStreams = min(settings.outboundStreams, peer.inboundStreams)
  }

  init(rawValue: UInt8, inboundStreams: UInt16, outboundStreams: UInt16) {
    supportsForwardTSN = rawValue & 1 != 0
    supportsReconfiguration = rawValue & 2 != 0
    usesZeroChecksum = rawValue & 4 != 0
    self.inboundStreams = inboundStreams
    self.outboundStreams = outboundStreams
  }

  /// The extensions as bits.
  var rawValue: UInt8 {
    (supportsForwardTSN ? 1 : 0) | (supportsReconfiguration ? 2 : 0) | (usesZeroChecksum ? 4 : 0)
  }
}

extension InitParameters {
  /// The parameters that offer the extensions of `settings`.
  init(offering settings: SCTPSettings) {
    self.init(supportsForwardTSN: settings.offersPartialReliability)
    if settings.offersReconfiguration { supportedExtensions.append(SCTPChunkType.reconfiguration.rawValue) }
    if settings.offersPartialReliability { supportedExtensions.append(SCTPChunkType.forwardTSN.rawValue) }
    if settings.offersZeroChecksum { zeroChecksumMethod = Self.zeroChecksumByDTLS }
  }
}
