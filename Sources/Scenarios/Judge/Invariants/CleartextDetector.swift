internal import CallCore
internal import SimNet

/// Looks on the wire for what peers had before protection, and writes a `cleartext` event for every packet it finds.
///
/// A session says the first eight bytes of each payload before it is protected (`media.sent`). They must not be at
/// the start of the payload of any RTP packet the peer's host sends, be it bare or inside TURN framing. Whether the
/// event or the packet comes first does not matter.
final class CleartextDetector: PacketTap {
  static let kind = "cleartext"
  /// Payloads shorter than a prefix are padded by the session, and prove nothing.
  private static let prefixSize = 8
  private static let smallestHeader = 12
  private static let memory = 256

  private let trace: Trace
  private let cleartext: TraceKind
  private let next: (any PacketTap)?
  private var owners: [InterfaceID: String] = [:]
  private var sightings: [String: Sightings] = [:]

  /// What one peer meant to send and what its interfaces carried, newest last.
  private final class Sightings {
    let subject: TraceSubject
    var meant = RecentPrefixes()
    var seen = RecentPrefixes()
    init(subject: TraceSubject) { self.subject = subject }
  }

  /// - Parameter next: sees everything as well, such as a capture.
  init(peers: [String], watch: Watch, next: (any PacketTap)? = nil) {
    trace = watch.trace
    self.next = next
    cleartext = trace.declare(Self.kind)
    for peer in peers {
      let sighting = Sightings(subject: trace.subject(peer))
      sightings[peer] = sighting
      watch.listen(watch.slot(peer, "media.sent")) { [unowned self] record in
        guard Int64(bitPattern: record.values[1]) >= Int64(Self.smallestHeader + Self.prefixSize) else { return }
        sighting.meant.insert(record.values[2])
        if sighting.seen.contains(record.values[2]) { tell(sighting) }
      }
    }
  }

  func added(_ interface: InterfaceID, name: String) {
    next?.added(interface, name: name)
    // An interface is named after its host: `alice wifi`.
    let host = String(name.prefix { $0 != " " })
    if sightings[host] != nil { owners[interface] = host }
  }

  func observed(
    _ payload: RawSpan, _ header: PacketHeader, on interface: InterfaceID, _ direction: LinkDirection, at now: Instant
  ) {
    next?.observed(payload, header, on: interface, direction, at: now)
    guard direction == .tx, header.transport == .udp, let peer = owners[interface],
      let prefix = Self.mediaPrefix(payload)
    else { return }
    saw(prefix, of: peer)
  }

  /// An RTP payload that begins with the prefix left the peer's host.
  func saw(_ prefix: UInt64, of peer: String) {
    guard let sighting = sightings[peer] else { return }
    sighting.seen.insert(prefix)
    if sighting.meant.contains(prefix) { tell(sighting) }
  }

  private func tell(_ sighting: Sightings) { trace.write(cleartext, sighting.subject) }

  // MARK: Finding RTP

  /// The first eight payload bytes of an RTP packet in a datagram; nil when there is none.
  static func mediaPrefix(_ datagram: RawSpan) -> UInt64? {
    guard let first = datagram.byte(at: 0) else { return nil }
    switch first {
    case 128...191: return rtpPrefix(datagram, from: 0)
    case 64...79: return rtpPrefix(datagram, from: 4)  // ChannelData, RFC 8656 section 12.4
    case 0...3: return sendIndicationData(datagram).flatMap { rtpPrefix(datagram, from: $0) }
    default: return nil
    }
  }

  /// RFC 3550 section 5.1; RTCP is told apart by RFC 5761.
  private static func rtpPrefix(_ bytes: RawSpan, from start: Int) -> UInt64? {
    guard let first = bytes.byte(at: start), first >> 6 == 2, let second = bytes.byte(at: start + 1),
      !(192...223).contains(second)
    else { return nil }
    var offset = start + smallestHeader + Int(first & 0x0F) * 4
    if first & 0x10 != 0 {
      guard let words = bytes.bigEndian(UInt16.self, at: offset + 2) else { return nil }
      offset += 4 + Int(words) * 4
    }
    return bytes.bigEndian(UInt64.self, at: offset)
  }

  /// Where DATA begins in a TURN Send indication (RFC 8656 section 11.1).
  private static func sendIndicationData(_ bytes: RawSpan) -> Int? {
    guard bytes.bigEndian(UInt16.self, at: 0) == 0x0016 else { return nil }
    var offset = 20
    while let type = bytes.bigEndian(UInt16.self, at: offset), let length = bytes.bigEndian(UInt16.self, at: offset + 2)
    {
      if type == 0x0013 { return offset + 4 }
      offset += 4 + (Int(length) + 3) / 4 * 4
    }
    return nil
  }

  /// The last few prefixes.
  private struct RecentPrefixes {
    private var ring: [UInt64] = []
    private var position = 0

    mutating func insert(_ prefix: UInt64) {
      if ring.count < CleartextDetector.memory {
        ring.append(prefix)
      } else {
        ring[position] = prefix
        position = (position + 1) % CleartextDetector.memory
      }
    }

    func contains(_ prefix: UInt64) -> Bool { ring.contains(prefix) }
  }
}
