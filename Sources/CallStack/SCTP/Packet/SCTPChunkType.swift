/// The type of a chunk (RFC 9260 section 3.2; RFC 3758, RFC 6525).
package enum SCTPChunkType: UInt8, Sendable, CaseIterable {
  case data = 0
  case initiation = 1
  case initiationAck = 2
  case sack = 3
  case heartbeat = 4
  case heartbeatAck = 5
  case abort = 6
  case shutdown = 7
  case shutdownAck = 8
  case error = 9
  case cookieEcho = 10
  case cookieAck = 11
  case shutdownComplete = 14
  case reconfiguration = 130
  case forwardTSN = 192
}

/// The treatment of an unknown chunk or parameter, by the two highest bits of its type (RFC 9260 sections 3.2 and
/// 3.2.1).
package struct UnknownTypeRule: Hashable, Sendable, BitwiseCopyable {
  /// Whether the rest is still read.
  package var continues: Bool
  /// Whether the sender is told.
  package var isReported: Bool

  package init(chunkType: UInt8) {
    continues = chunkType & 0x80 != 0
    isReported = chunkType & 0x40 != 0
  }

  package init(parameterType: UInt16) { self.init(chunkType: UInt8(parameterType >> 8)) }
}
