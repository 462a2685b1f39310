/// Finds the media section of a packet when all sections share one transport (RFC 9143 section 9.2).
///
/// In order: the MID header extension, which also binds the SSRC from then on; an SSRC already bound, by signalling or
/// by an earlier packet; a payload type that one section alone uses. Anything else belongs to nobody yet.
public struct RTPDemultiplexer: Sendable {
  /// The local identifier of the MID extension; nil when it was not negotiated.
  public var midExtensionID: UInt8?
  private var sections: [[UInt8]: Int] = [:]
  private var sources: [UInt32: Int] = [:]
  /// Sources bound by packets, the oldest first, so that forged ones cannot fill the memory.
  private var learned: [UInt32] = []
  private var payloadTypes: [Int?] = Array(repeating: nil, count: 128)
  private var isAmbiguous: [Bool] = Array(repeating: false, count: 128)
  private static let learnedLimit = 256
  /// Packets that belonged to no section.
  public private(set) var unroutedCount = 0

  public init(midExtensionID: UInt8? = nil) { self.midExtensionID = midExtensionID }

  /// Declares a section. A payload type declared for two sections identifies neither.
  public mutating func addSection(_ index: Int, mid: [UInt8], payloadTypes types: [UInt8], sources signalled: [UInt32])
  {
    sections[mid] = index
    for source in signalled { sources[source] = index }
    for type in types where type < 128 {
      if let other = payloadTypes[Int(type)], other != index { isAmbiguous[Int(type)] = true }
      payloadTypes[Int(type)] = index
    }
  }

  /// The section of an RTP packet, or nil when it belongs to none.
  public mutating func section(of packet: RTPPacket, in datagram: RawSpan) -> Int? {
    let source = packet.header.ssrc
    if let midExtensionID, let mid = packet.mediaIdentification(id: midExtensionID, in: datagram) {
      // An unknown MID means that signalling is behind or ahead: the packet must not be guessed at.
      guard let section = sections[mid] else { return unrouted() }
      bind(source, to: section)
      return section
    }
    if let section = sources[source] { return section }
    let type = Int(packet.header.payloadType)
    guard !isAmbiguous[type], let section = payloadTypes[type] else { return unrouted() }
    bind(source, to: section)
    return section
  }

  /// The section a source is bound to, for RTCP.
  public func section(ofSource ssrc: UInt32) -> Int? { sources[ssrc] }

  private mutating func bind(_ source: UInt32, to section: Int) {
    if sources.updateValue(section, forKey: source) != nil { return }
    learned.append(source)
    if learned.count > Self.learnedLimit { sources.removeValue(forKey: learned.removeFirst()) }
  }

  private mutating func unrouted() -> Int? {
    unroutedCount += 1
    return nil
  }
}
