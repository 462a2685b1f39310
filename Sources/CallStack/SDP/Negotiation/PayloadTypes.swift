internal import CallCore

/// Allocates payload types for an offer.
///
/// All bundled sections share one number space (RFC 9143 §10.1.1), and a payload type keeps its meaning for the whole
/// session (RFC 3264 §8.3.2), so those in the current descriptions are reserved first.
struct PayloadTypes {
  private var isTaken: [Bool] = Array(repeating: false, count: 128)
  /// The payload type of each codec; our own if the remote side uses another. Only looked up, never iterated.
  private var numbers: [CodecIdentity: UInt8] = [:]

  init(inUseBy current: DescriptionPair? = nil) {
    guard let current, !Defect.payloadTypeRemapped.isPlanted else { return }
    let sections =
      Array(zip(current.local.media, current.localCodecs)) + Array(zip(current.remote.media, current.remoteCodecs))
    for (section, codecs) in sections where !section.isRejected { for codec in codecs { take(codec) } }
    // The payload types of rejected sections keep their meaning too, unless a live section has reassigned them.
    for (section, codecs) in sections where section.isRejected {
      for codec in codecs where !isTaken[Int(codec.payloadType)] { take(codec) }
    }
  }

  private mutating func take(_ codec: CodecDescription) {
    isTaken[Int(codec.payloadType)] = true
    if numbers[codec.identity] == nil { numbers[codec.identity] = codec.payloadType }
  }

  /// Returns the payload type of a known codec, else a free one, or nil when there is none left.
  mutating func number(for identity: CodecIdentity, preferring preferred: UInt8?) -> UInt8? {
    if let known = numbers[identity] { return known }
    let assigned = RTPMap.assigned.first { CodecDescription($0).identity == identity }?.payloadType
    let candidates = [assigned, preferred].compactMap { $0 } + Array(96...127) + Array(35...63)
    guard let free = candidates.first(where: { $0 < 128 && !isTaken[Int($0)] }) else { return nil }
    isTaken[Int(free)] = true
    numbers[identity] = free
    return free
  }

  /// Returns the formats of an offered section, each followed by its retransmission stream.
  mutating func codecs(for capabilities: [CodecCapability]) -> [CodecDescription] {
    var result: [CodecDescription] = []
    // RED that holds repair packets holds every codec, and names none.
    let namesCodecs = !capabilities.contains { $0.role == .repair }
    for capability in capabilities {
      guard let number = number(for: CodecIdentity(capability), preferring: capability.preferredPayloadType) else {
        continue
      }
      var codec = CodecDescription(capability, payloadType: number)
      if codec.role == .redundancy, namesCodecs, codec.parameters.isEmpty,
        let main = result.first(where: { $0.role == .media })
      {
        // One redundant generation of the codec that it assists (RFC 2198 section 5).
        codec.parameters = FormatParameters("\(main.payloadType)/\(main.payloadType)")
      }
      result.append(codec)
      guard capability.retransmission else { continue }
      let rtx = CodecDescription(retransmitting: number, as: 0, clockRate: capability.clockRate)
      if let own = self.number(for: rtx.identity, preferring: number < 127 ? number + 1 : nil) {
        result.append(CodecDescription(retransmitting: number, as: own, clockRate: capability.clockRate))
      }
    }
    return result
  }
}

/// Allocates header extension identifiers for an offer, by the same rule as ``PayloadTypes`` (RFC 8285 §5, RFC 9143
/// §10.1.2).
struct ExtensionIdentifiers {
  private var taken: [HeaderExtension] = []

  init(inUseBy descriptions: SessionDescription?...) {
    let sections = descriptions.compactMap { $0 }.flatMap(\.media)
    for section in sections.filter({ !$0.isRejected }) + sections.filter(\.isRejected) {
      for entry in section.attributes.headerExtensions where !taken.contains(where: { $0.id == entry.id }) {
        taken.append(entry)
      }
    }
  }

  mutating func headerExtensions(for uris: [String]) -> [HeaderExtension] {
    uris.compactMap { uri in
      let known = taken.first { $0.uri == uri && $0.isUsable }
      return known.map { HeaderExtension(id: $0.id, uri: uri) } ?? headerExtension(for: uri)
    }
  }

  /// Returns the extension with a free identifier that fits a one-byte header, or nil if there is none left.
  mutating func headerExtension(for uri: String) -> HeaderExtension? {
    guard let free = (1...14).first(where: { id in !taken.contains { $0.id == id } }) else { return nil }
    let entry = HeaderExtension(id: UInt16(free), uri: uri)
    taken.append(entry)
    return entry
  }
}
