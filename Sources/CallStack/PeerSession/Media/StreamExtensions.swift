internal import RTP

/// The header extensions of a stream's packets, and of those that repair it.
///
/// The names of section and encoding are in every packet until the remote side reports on the stream, and so knows its
/// source (RFC 9143 section 15, RFC 8852 section 3).
struct StreamExtensions {
  private var identifiers = MediaExtensions([], sending: true)
  private var isNumbered = false
  private var mid: [UInt8]?
  private var rid: [UInt8]?
  private(set) var original = RTPHeaderExtensions()
  private(set) var repair = RTPHeaderExtensions()
  /// The offsets of the transport-wide number; nil without one.
  private(set) var originalNumberOffset: Int?
  private(set) var repairNumberOffset: Int?

  /// - Parameter mid: the name to send; nil to leave the names as they are.
  mutating func set(_ identifiers: MediaExtensions, isNumbered: Bool, mid: String?, rid: String?) {
    self.identifiers = identifiers
    self.isNumbered = isNumbered
    if let mid {
      self.mid = Array(mid.utf8)
      self.rid = rid.map { Array($0.utf8) }
    }
    compose()
  }

  mutating func forgetNames() {
    guard mid != nil else { return }
    (mid, rid) = (nil, nil)
    compose()
  }

  private mutating func compose() {
    (original, originalNumberOffset) = composed(rid: identifiers.rid)
    (repair, repairNumberOffset) = composed(rid: identifiers.repairedRID)
  }

  private func composed(rid id: UInt8?) -> (RTPHeaderExtensions, Int?) {
    var extensions = RTPHeaderExtensions()
    if let id = identifiers.mid, let mid { extensions.append(id: id, bytes: mid.span.bytes) }
    if let id, let rid { extensions.append(id: id, bytes: rid.span.bytes) }
    let number = isNumbered ? identifiers.transportNumber : nil
    let slot = number.flatMap { extensions.reserve(id: $0, length: 2) }
    return (extensions, slot.map { extensions.offset(of: $0) })
  }
}
