internal import RTP

/// The header extensions of a stream's packets, and of those that repair it.
///
/// The names of section and encoding are in every packet until the remote side reports on its source, and so knows it
/// (RFC 9143 section 15, RFC 8852 section 3). Each source for itself, as in libwebrtc: a report on the original says
/// nothing of the one that repairs it, which may not have sent yet.
struct StreamExtensions {
  private struct Names {
    var mid: [UInt8]?
    var rid: [UInt8]?
  }

  private var identifiers = MediaExtensions([], sending: true)
  private var isNumbered = false
  private var names = Names()
  private var repairNames = Names()
  private(set) var original = RTPHeaderExtensions()
  /// Those of a packet with an audio level, and the place of that; nil unless it was negotiated.
  private var levelled: (extensions: RTPHeaderExtensions, numberOffset: Int?, slot: RTPHeaderExtensions.Slot)?
  private(set) var repair = RTPHeaderExtensions()
  /// The offsets of the transport-wide number; nil without one.
  private(set) var originalNumberOffset: Int?
  private(set) var repairNumberOffset: Int?

  /// - Parameter mid: the name to send; nil to leave the names as they are.
  mutating func set(_ identifiers: MediaExtensions, isNumbered: Bool, mid: String?, rid: String?) {
    self.identifiers = identifiers
    self.isNumbered = isNumbered
    if let mid {
      names = Names(mid: Array(mid.utf8), rid: rid.map { Array($0.utf8) })
      repairNames = names
    }
    compose()
  }

  /// Leaves the names out of the stream's own packets.
  mutating func forgetNames() {
    guard names.mid != nil else { return }
    names = Names()
    compose()
  }

  /// Leaves the names out of the packets that repair the stream.
  mutating func forgetRepairNames() {
    guard repairNames.mid != nil else { return }
    repairNames = Names()
    compose()
  }

  /// Whether packets carry the level of their audio.
  var hasLevel: Bool { levelled != nil }

  /// Returns the extensions of a packet with this level of its audio, and the offset of its transport-wide number.
  func original(_ level: AudioLevelIndication?) -> (extensions: RTPHeaderExtensions, numberOffset: Int?) {
    guard let level, var levelled else { return (original, originalNumberOffset) }
    let hasVoice = identifiers.hasVoiceFlag && level.hasVoice ?? false
    levelled.extensions.setAudioLevel(level.level, voiceActivity: hasVoice, at: levelled.slot)
    return (levelled.extensions, levelled.numberOffset)
  }

  private mutating func compose() {
    let own = composed(names, rid: identifiers.rid)
    (original, originalNumberOffset) = (own.extensions, own.number.map { own.extensions.offset(of: $0) })
    var extensions = own.extensions
    levelled = identifiers.audioLevel.flatMap { extensions.reserve(id: $0, length: 1) }.map { slot in
      // The identifier of the level may need the longer form, which moves the number.
      (extensions, own.number.map { extensions.offset(of: $0) }, slot)
    }
    let repairing = composed(repairNames, rid: identifiers.repairedRID)
    (repair, repairNumberOffset) = (repairing.extensions, repairing.number.map { repairing.extensions.offset(of: $0) })
  }

  private func composed(_ names: Names, rid id: UInt8?) -> (
    extensions: RTPHeaderExtensions, number: RTPHeaderExtensions.Slot?
  ) {
    var extensions = RTPHeaderExtensions()
    if let id = identifiers.mid, let mid = names.mid { extensions.append(id: id, bytes: mid.span.bytes) }
    if let id, let rid = names.rid { extensions.append(id: id, bytes: rid.span.bytes) }
    let number = isNumbered ? identifiers.transportNumber : nil
    let slot = number.flatMap { extensions.reserve(id: $0, length: 2) }
    return (extensions, slot)
  }
}
