internal import CallCore

/// Whether a message between a TURN client and its server carries the data of a peer (ChannelData, a Send or a Data
/// indication; RFC 8656 sections 11 and 12). The others are requests and their answers, which nobody repeats on a
/// connection (RFC 8489 section 6.2.2).
public func carriesPeerData(_ message: RawSpan) -> Bool {
  guard let type = message.bigEndian(UInt16.self, at: 0) else { return false }
  return [0x0016, 0x0017].contains(type) || (0x4000...0x7FFF).contains(type)
}
