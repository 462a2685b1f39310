internal import CallCore

/// Finds the media section of a packet when all sections share one transport (RFC 9143 section 9.2).
///
/// In order: the MID header extension, which also binds the SSRC from then on; an SSRC already bound, by signalling or
/// by an earlier packet; a payload type that one section alone uses. Anything else belongs to nobody yet.
public struct RTPDemultiplexer: Sendable {
  /// A section that packets may be for.
  public struct Section: Hashable, Sendable {
    public var mid: [UInt8]
    public var payloadTypes: [UInt8]
    /// The sources that signalling named for it.
    public var sources: [UInt32]

    public init(mid: [UInt8], payloadTypes: [UInt8], sources: [UInt32] = []) {
      self.mid = mid
      self.payloadTypes = payloadTypes
      self.sources = sources
    }
  }

  /// What a payload type says about the section.
  private enum Owner { case nobody, several, section(Int) }

  /// The local identifier of the MID extension; nil when it was not negotiated.
  public var midExtensionID: UInt8?
  public private(set) var sections: [Section] = []
  /// Looked up only, never iterated.
  private var sources: [UInt32: Int] = [:]
  /// Sources bound by packets, the oldest first, so that forged ones cannot fill the memory.
  private var learned: [UInt32] = []
  private var owners: [Owner] = Array(repeating: .nobody, count: 128)
  private static let learnedLimit = 256
  /// Packets that belonged to no section.
  public private(set) var unroutedCount = 0

  public init(midExtensionID: UInt8? = nil) { self.midExtensionID = midExtensionID }

  /// How many sources are bound.
  public var sourceCount: Int { sources.count }

  /// Takes the sections of a new negotiation. A source that a packet has bound stays with its mid: its sender need not
  /// name it again. A payload type of two sections identifies neither.
  public mutating func setSections(_ new: [Section]) {
    var bound: [UInt32: Int] = [:]
    learned.removeAll { source in
      let mid = sources[source].map { sections[$0].mid }
      guard let section = new.firstIndex(where: { $0.mid == mid }) else { return true }
      bound[source] = section
      return new[section].sources.contains(source)
    }
    owners = Array(repeating: .nobody, count: 128)
    for (index, section) in new.enumerated() {
      for source in section.sources where bound[source] == nil { bound[source] = index }
      for type in section.payloadTypes where type < 128 {
        if case .nobody = owners[Int(type)] {
          owners[Int(type)] = .section(index)
        } else {
          owners[Int(type)] = .several
        }
      }
    }
    sections = new
    sources = bound
  }

  /// The position of the section an RTP packet is for, or nil when it belongs to none.
  public mutating func section(of packet: RTPPacket, in datagram: RawSpan) -> Int? {
    let source = packet.header.ssrc
    let known = sources[source]
    if let midExtensionID, !Defect.midNotLookedAt.isPlanted,
      let range = packet.mediaIdentification(id: midExtensionID, in: datagram)
    {
      let mid = datagram.extracting(range)
      if let known, mid.holds(sections[known].mid) { return known }
      // An unknown MID means that signalling is behind or ahead: the packet must not be guessed at.
      guard let section = sections.firstIndex(where: { mid.holds($0.mid) }) else { return unrouted() }
      bind(source, to: section)
      return section
    }
    if let known { return known }
    guard case .section(let section) = owners[Int(packet.header.payloadType)] else { return unrouted() }
    if Defect.changedSourceDropped.isPlanted, sources.values.contains(section) { return unrouted() }
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

extension RawSpan {
  /// Whether these are exactly the given bytes.
  fileprivate func holds(_ bytes: [UInt8]) -> Bool {
    guard byteCount == bytes.count else { return false }
    for index in bytes.indices where byte(at: index) != bytes[index] { return false }
    return true
  }
}
