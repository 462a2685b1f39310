internal import CallCore

/// Finds whose an RTP packet is when all sections share one transport (RFC 9143 section 9.2), and which of a section's
/// encodings it is of (RFC 8852).
///
/// The section, in order: the MID header extension, which also binds the SSRC from then on; an SSRC already bound, by
/// signalling or by an earlier packet; the name of an encoding that one section alone has; a payload type that one section
/// alone uses. Anything else belongs to nobody yet.
package struct RTPRouter: Sendable {
  /// What a stream is to its encoding.
  package enum Role: Hashable, Sendable, BitwiseCopyable {
    case media
    /// What was lost, sent again (RFC 4588).
    case retransmission
    /// What lost packets can be computed from (RFC 8627).
    case repair
  }

  /// Whose a packet is.
  package struct Route: Hashable, Sendable, BitwiseCopyable {
    package var section: Int
    package var encoding: Int
    package var role: Role

    package init(section: Int, encoding: Int = 0, role: Role = .media) {
      self.section = section
      self.encoding = encoding
      self.role = role
    }
  }

  /// A source that signalling named for a section.
  package struct Source: Hashable, Sendable {
    package var ssrc: UInt32
    package var encoding: Int
    package var role: Role

    package init(_ ssrc: UInt32, encoding: Int = 0, role: Role = .media) {
      self.ssrc = ssrc
      self.encoding = encoding
      self.role = role
    }
  }

  /// A section that packets may be for.
  package struct Section: Hashable, Sendable {
    package var mid: [UInt8]
    /// Those of media.
    package var payloadTypes: [UInt8]
    package var retransmissionPayloadTypes: [UInt8] = []
    package var repairPayloadTypes: [UInt8] = []
    package var sources: [Source]
    /// What its encodings are called, where it has several; without names it has one.
    package var rids: [[UInt8]] = []

    package init(mid: [UInt8], payloadTypes: [UInt8], sources: [Source] = []) {
      self.mid = mid
      self.payloadTypes = payloadTypes
      self.sources = sources
    }

    fileprivate func role(of payloadType: UInt8) -> Role {
      if retransmissionPayloadTypes.contains(payloadType) { return .retransmission }
      return repairPayloadTypes.contains(payloadType) ? .repair : .media
    }
  }

  /// What a payload type says about the section.
  private enum Owner { case nobody, several, section(Int) }

  private struct Binding {
    let ssrc: UInt32
    var route: Route
  }

  /// The local identifiers of the extensions; nil when they were not negotiated.
  package var midExtensionID: UInt8?
  package var ridExtensionID: UInt8?
  package var repairedRIDExtensionID: UInt8?
  package private(set) var sections: [Section] = []
  /// Those of signalling. A transport has few sources, so a list beats a table.
  private var signalled: [Binding] = []
  /// Those bound by packets, the oldest first, so that forged ones cannot fill the memory.
  private var learned: [Binding] = []
  private var owners: [Owner] = Array(repeating: .nobody, count: 128)
  private static let learnedLimit = 256
  /// Packets that belonged to no section or encoding.
  package private(set) var unroutedCount = 0

  package init(midExtensionID: UInt8? = nil) { self.midExtensionID = midExtensionID }

  /// How many sources are bound.
  package var sourceCount: Int { signalled.count + learned.count }

  /// Takes the sections of a new negotiation. A source that a packet has bound stays with its mid: its sender need not
  /// name it again. A payload type of two sections identifies neither.
  package mutating func setSections(_ new: [Section]) {
    var kept: [Binding] = []
    for var binding in learned {
      let old = sections[binding.route.section]
      guard let section = new.firstIndex(where: { $0.mid == old.mid }), new[section].rids == old.rids else { continue }
      binding.route.section = section
      kept.append(binding)
    }
    signalled = []
    owners = Array(repeating: .nobody, count: 128)
    for (index, section) in new.enumerated() {
      for source in section.sources where route(ofSource: source.ssrc, in: signalled) == nil {
        // One that a packet has moved elsewhere stays there.
        let moved = kept.first { $0.ssrc == source.ssrc }?.route
        let route = Route(section: index, encoding: source.encoding, role: source.role)
        signalled.append(Binding(ssrc: source.ssrc, route: moved ?? route))
      }
      for type in section.payloadTypes + section.retransmissionPayloadTypes + section.repairPayloadTypes
      where type < 128 {
        switch owners[Int(type)] {
        case .nobody: owners[Int(type)] = .section(index)
        case .section(index), .several: break
        case .section: owners[Int(type)] = .several
        }
      }
    }
    learned = kept.filter { binding in !signalled.contains { $0.ssrc == binding.ssrc } }
    sections = new
  }

  /// Whose an RTP packet is, or nil when it is nobody's.
  package mutating func route(of packet: RTPPacket, in datagram: RawSpan) -> Route? {
    let source = packet.header.ssrc
    let known = route(ofSource: source)
    guard let section = section(of: packet, in: datagram, known: known) else { return unrouted() }
    guard let route = route(of: packet, in: datagram, section: section, known: known) else { return unrouted() }
    if route != known { bind(source, to: route) }
    return route
  }

  /// What a source is bound to, for RTCP.
  package func route(ofSource ssrc: UInt32) -> Route? {
    route(ofSource: ssrc, in: signalled) ?? route(ofSource: ssrc, in: learned)
  }

  // MARK: Steps

  private func route(ofSource ssrc: UInt32, in bindings: [Binding]) -> Route? {
    for binding in bindings where binding.ssrc == ssrc { return binding.route }
    return nil
  }

  private func section(of packet: RTPPacket, in datagram: RawSpan, known: Route?) -> Int? {
    if let midExtensionID, !Defect.midNotLookedAt.isPlanted,
      let range = packet.mediaIdentification(id: midExtensionID, in: datagram)
    {
      let mid = datagram.extracting(range)
      if let known, mid.holds(sections[known.section].mid) { return known.section }
      // An unknown MID means that signalling is behind or ahead: the packet must not be guessed at.
      return sections.firstIndex { mid.holds($0.mid) }
    }
    if let known { return known.section }
    if let name = encodingName(of: packet, in: datagram) {
      let first = sections.firstIndex { $0.rids.contains { datagram.extracting(name.range).holds($0) } }
      let last = sections.lastIndex { $0.rids.contains { datagram.extracting(name.range).holds($0) } }
      if Defect.encodingNameOfAnySection.isPlanted, let first { return first }
      // The name of two sections' encodings tells neither.
      if let first { return first == last ? first : nil }
    }
    guard case .section(let section) = owners[Int(packet.header.payloadType)] else { return nil }
    let isTaken = (signalled + learned).contains { $0.route.section == section }
    return Defect.changedSourceDropped.isPlanted && isTaken ? nil : section
  }

  /// Which encoding of its section a packet is of: by its name, else as before, else by its payload type where there is
  /// but one.
  private func route(of packet: RTPPacket, in datagram: RawSpan, section: Int, known: Route?) -> Route? {
    let place = sections[section]
    if !place.rids.isEmpty, let name = encodingName(of: packet, in: datagram) {
      guard let encoding = place.rids.firstIndex(where: { datagram.extracting(name.range).holds($0) }) else {
        return nil
      }
      guard name.isRepaired else { return Route(section: section, encoding: encoding) }
      let role = place.role(of: packet.header.payloadType)
      return Route(section: section, encoding: encoding, role: role == .media ? .retransmission : role)
    }
    if let known, known.section == section { return known }
    guard place.rids.count <= 1 else { return nil }
    return Route(section: section, role: place.role(of: packet.header.payloadType))
  }

  private func encodingName(of packet: RTPPacket, in datagram: RawSpan) -> (range: Range<Int>, isRepaired: Bool)? {
    if let ridExtensionID, let range = packet.encodingIdentification(id: ridExtensionID, in: datagram) {
      return (range, false)
    }
    guard let repairedRIDExtensionID,
      let range = packet.encodingIdentification(id: repairedRIDExtensionID, in: datagram)
    else { return nil }
    return (range, true)
  }

  private mutating func bind(_ source: UInt32, to route: Route) {
    if let index = signalled.firstIndex(where: { $0.ssrc == source }) {
      signalled[index].route = route
    } else if let index = learned.firstIndex(where: { $0.ssrc == source }) {
      learned[index].route = route
    } else {
      learned.append(Binding(ssrc: source, route: route))
      if learned.count > Self.learnedLimit { learned.removeFirst() }
    }
  }

  private mutating func unrouted() -> Route? {
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
