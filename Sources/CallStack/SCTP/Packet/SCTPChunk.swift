/// One chunk of a packet (RFC 9260 section 3.3).
package enum SCTPChunk: Hashable, Sendable {
  case data(DataChunk)
  case initiation(InitChunk)
  case initiationAck(InitChunk)
  case sack(SACKChunk)
  /// A HEARTBEAT with its parameters as they are on the wire: the acknowledgment returns them.
  case heartbeat([UInt8])
  case heartbeatAck([UInt8])
  /// An ABORT. If its tag is reflected, the packet carries the tag of its sender (the T bit).
  case abort([SCTPErrorCause], isTagReflected: Bool)
  case shutdown(cumulativeTSN: UInt32)
  case shutdownAck
  case error([SCTPErrorCause])
  case cookieEcho([UInt8])
  case cookieAck
  case shutdownComplete(isTagReflected: Bool)
  case reconfiguration([ReconfigurationParameter])
  case forwardTSN(ForwardTSNChunk)
  /// A chunk of an unknown type, with its header.
  case unknown(type: UInt8, bytes: [UInt8])
}

/// A DATA chunk: a message or a fragment of one (RFC 9260 section 3.3.1).
package struct DataChunk: Hashable, Sendable {
  /// The flags of the chunk on the wire.
  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The last fragment of a message.
    package static let end = Flags(rawValue: 1)
    /// The first fragment of a message.
    package static let beginning = Flags(rawValue: 2)
    /// A message that is delivered as soon as it is complete.
    package static let unordered = Flags(rawValue: 4)
    /// The sender wants a SACK without delay (RFC 7053).
    package static let immediate = Flags(rawValue: 8)
  }

  package var flags: Flags
  package var tsn: UInt32
  package var stream: UInt16
  package var ssn: UInt16
  /// The payload protocol identifier.
  package var ppid: UInt32
  package var payload: ArraySlice<UInt8>

  package init(
    flags: Flags, tsn: UInt32, stream: UInt16, ssn: UInt16, ppid: UInt32, payload: ArraySlice<UInt8>
  ) {
    self.flags = flags
    self.tsn = tsn
    self.stream = stream
    self.ssn = ssn
    self.ppid = ppid
    self.payload = payload
  }

  /// The size of the header of a DATA chunk in bytes.
  package static let headerSize = 16

  /// Returns the size of a chunk in a packet, with header and padding.
  package static func encodedSize(payload: Int) -> Int { (headerSize + payload + 3) & ~3 }

  /// The size of the chunk in a packet, with header and padding.
  package var encodedSize: Int { Self.encodedSize(payload: payload.count) }
}

/// An INIT or INIT ACK chunk (RFC 9260 sections 3.3.2 and 3.3.3).
package struct InitChunk: Hashable, Sendable {
  package var initiateTag: UInt32
  /// The advertised receiver window.
  package var receiverWindow: UInt32
  package var outboundStreams: UInt16
  package var inboundStreams: UInt16
  package var initialTSN: UInt32
  package var parameters: InitParameters

  package init(
    initiateTag: UInt32, receiverWindow: UInt32, outboundStreams: UInt16, inboundStreams: UInt16, initialTSN: UInt32,
    parameters: InitParameters = InitParameters()
  ) {
    self.initiateTag = initiateTag
    self.receiverWindow = receiverWindow
    self.outboundStreams = outboundStreams
    self.inboundStreams = inboundStreams
    self.initialTSN = initialTSN
    self.parameters = parameters
  }
}

/// A selective acknowledgment (RFC 9260 section 3.3.4).
package struct SACKChunk: Hashable, Sendable {
  /// A block of received TSNs, as offsets from the cumulative TSN.
  package struct GapBlock: Hashable, Sendable, BitwiseCopyable {
    package var start: UInt16
    package var end: UInt16

    package init(start: UInt16, end: UInt16) {
      self.start = start
      self.end = end
    }
  }

  package var cumulativeTSN: UInt32
  /// The advertised receiver window.
  package var receiverWindow: UInt32
  package var gapBlocks: [GapBlock]
  package var duplicates: [UInt32]

  package init(cumulativeTSN: UInt32, receiverWindow: UInt32, gapBlocks: [GapBlock] = [], duplicates: [UInt32] = []) {
    self.cumulativeTSN = cumulativeTSN
    self.receiverWindow = receiverWindow
    self.gapBlocks = gapBlocks
    self.duplicates = duplicates
  }
}

/// A FORWARD TSN chunk: the peer must not wait for abandoned messages (RFC 3758 section 3.2).
package struct ForwardTSNChunk: Hashable, Sendable {
  /// The last message of an ordered stream that is skipped.
  package struct SkippedStream: Hashable, Sendable, BitwiseCopyable {
    package var stream: UInt16
    package var ssn: UInt16

    package init(stream: UInt16, ssn: UInt16) {
      self.stream = stream
      self.ssn = ssn
    }
  }

  package var newCumulativeTSN: UInt32
  package var skipped: [SkippedStream]

  package init(newCumulativeTSN: UInt32, skipped: [SkippedStream] = []) {
    self.newCumulativeTSN = newCumulativeTSN
    self.skipped = skipped
  }
}
