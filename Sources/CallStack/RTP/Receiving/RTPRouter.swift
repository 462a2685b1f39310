internal import CallCore

/// Finds the section of an RTP packet when all sections share one transport (RFC 9143 section 9.2), and its encoding
/// within the section (RFC 8852).
///
/// The section is identified, in this order, by: the MID header extension, which also binds the SSRC; an SSRC bound by
/// signalling or by an earlier packet; an encoding name that only one section has; a payload type that only one section
/// uses. Any other packet is not routed; nor is one of a source whose section does not receive any more, which is on its
/// way still.
package struct RTPRouter: Sendable {
  /// The role of a stream for its encoding.
  package enum Role: Hashable, Sendable, BitwiseCopyable {
    case media
    /// Retransmissions (RFC 4588).
    case retransmission
    /// Forward error correction (RFC 8627).
    case repair
  }

  /// The section, encoding and role of a packet.
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

  /// A source of a section in the remote description.
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

  /// A section that receives packets.
  package struct Section: Hashable, Sendable {
    package var mid: [UInt8]
    /// The payload types of media.
    package var payloadTypes: [UInt8]
    package var retransmissionPayloadTypes: [UInt8] = []
    package var repairPayloadTypes: [UInt8] = []
    package var sources: [Source]
    /// The names of its encodings; empty for a single encoding without a name.
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

  /// The sections that use a payload type.
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
  /// The bindings from signalling. A transport has few sources, so an array is faster than a dictionary.
  private var signalled: [Binding] = []
  /// The bindings from packets, the oldest first. Their number is limited, so that forged packets cannot fill the
  /// memory.
  private var learned: [Binding] = []
  /// The sources of sections that do not receive any more, with the MID of each: the oldest first, as many as are learned.
  private var retired: [(ssrc: UInt32, mid: [UInt8], route: Route)] = []
  private var owners: [Owner] = Array(repeating: .nobody, count: 128)
  private static let learnedLimit = 256
  /// The number of packets without a section or encoding.
  package private(set) var unroutedCount = 0

  package init(midExtensionID: UInt8? = nil) { self.midExtensionID = midExtensionID }

  /// The number of bound sources.
  package var sourceCount: Int { signalled.count + learned.count }

  /// Sets the sections of a new negotiation. A source bound by a packet keeps its MID, because its sender need not
  /// repeat it. A payload type in two sections identifies neither.
  package mutating func setSections(_ new: [Section]) {
    var kept: [Binding] = []
    for var binding in learned {
      let old = sections[binding.route.section]
      guard let section = new.firstIndex(where: { $0.mid == old.mid }), new[section].rids == old.rids else { continue }
      binding.route.section = section
      kept.append(binding)
    }
    for (ssrc, mid, route) in retired where !kept.contains(where: { $0.ssrc == ssrc }) {
      guard let section = new.firstIndex(where: { $0.mid == mid }), route.encoding < max(1, new[section].rids.count)
      else { continue }
      kept.append(Binding(ssrc: ssrc, route: Route(section: section, encoding: route.encoding, role: route.role)))
    }
    retire(new)
    signalled = []
    owners = Array(repeating: .nobody, count: 128)
    for (index, section) in new.enumerated() {
      for source in section.sources where route(ofSource: source.ssrc, in: signalled) == nil {
        // A source that a packet has moved to another section stays there.
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
    retired.removeAll { gone in signalled.contains { $0.ssrc == gone.ssrc } }
    learned = kept.filter { binding in !signalled.contains { $0.ssrc == binding.ssrc } }
    sections = new
  }

  /// Remembers the sources of sections that are missing among the new ones.
  private mutating func retire(_ new: [Section]) {
    retired.removeAll { gone in new.contains { $0.mid == gone.mid } }
    for binding in signalled + learned {
      let mid = sections[binding.route.section].mid
      guard !new.contains(where: { $0.mid == mid }) else { continue }
      retired.removeAll { $0.ssrc == binding.ssrc }
      retired.append((binding.ssrc, mid, binding.route))
    }
    retired.removeFirst(max(0, retired.count - Self.learnedLimit))
  }

  /// Returns the route of an RTP packet, or nil when it has none.
  package mutating func route(of packet: RTPPacket, in datagram: RawSpan) -> Route? {
    let source = packet.header.ssrc
    let known = route(ofSource: source)
    guard let section = section(of: packet, in: datagram, known: known) else { return unrouted() }
    guard let route = route(of: packet, in: datagram, section: section, known: known) else { return unrouted() }
    if route != known { bind(source, to: route) }
    return route
  }

  /// Returns the route of a source, for RTCP.
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
      // An unknown MID means that signalling is behind or ahead, so the packet must not be routed by other means.
      return sections.firstIndex { mid.holds($0.mid) }
    }
    if let known { return known.section }
    guard !retired.contains(where: { $0.ssrc == packet.header.ssrc }) else { return nil }
    if let name = encodingName(of: packet, in: datagram) {
      let first = sections.firstIndex { $0.rids.contains { datagram.extracting(name.range).holds($0) } }
      let last = sections.lastIndex { $0.rids.contains { datagram.extracting(name.range).holds($0) } }
      if Defect.encodingNameOfAnySection.isPlanted, let first { return first }
      // A name in two sections identifies neither.
      if let first { return first == last ? first : nil }
    }
    guard case .section(let section) = owners[Int(packet.header.payloadType)] else { return nil }
    let isTaken = (signalled + learned).contains { $0.route.section == section }
    return Defect.changedSourceDropped.isPlanted && isTaken ? nil : section
  }

  /// Returns the encoding of a packet in its section: by its name, else by its earlier binding, else by its payload
  /// type if there is only one encoding.
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
    retired.removeAll { $0.ssrc == source }
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
  /// Returns whether these are exactly the given bytes.
  fileprivate func holds(_ bytes: [UInt8]) -> Bool {
    guard byteCount == bytes.count else { return false }
    for index in bytes.indices where byte(at: index) != bytes[index] { return false }
    return true
  }
}
