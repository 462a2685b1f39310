extension SessionDescription {
  /// Checks the rules for every remote description.
  func checkAsRemote() throws(JSEPError) {
    var mids: Set<String> = []
    for mid in media.compactMap(\.mid) {
      guard mids.insert(mid).inserted else { throw .duplicateMid(mid) }
    }
    var bundled: Set<String> = []
    for group in groups where group.semantics == "BUNDLE" {
      for mid in group.mids where !mids.contains(mid) || !bundled.insert(mid).inserted {
        throw .invalidBundleGroup(mid: mid)
      }
    }
    try checkBundledNumbers()
    for index in media.indices where !media[index].isRejected && media[index].isRTP && multiplexesRTCP(at: index) {
      for type in media[index].formats.compactMap({ $0.number(UInt8.self) }) where (64...95).contains(type) {
        throw .reservedPayloadType(type, mLineIndex: index)
      }
    }
  }

  /// Checks that bundled sections use each payload type and extension identifier for one thing (RFC 9143 §10.1).
  private func checkBundledNumbers() throws(JSEPError) {
    var codecs: [UInt8: CodecIdentity] = [:]
    var extensions: [UInt16: String] = [:]
    let bundled = bundle
    for section in media where !section.isRejected && (section.mid.map(bundled.contains) ?? false) {
      for codec in section.codecs {
        let known = codecs.updateValue(codec.identity, forKey: codec.payloadType)
        guard known == nil || known == codec.identity else { throw .payloadTypeConflict(codec.payloadType) }
      }
      for entry in section.attributes.headerExtensions {
        let known = extensions.updateValue(entry.uri, forKey: entry.id)
        guard known == nil || known == entry.uri else { throw .extensionConflict(id: entry.id) }
      }
    }
  }

  /// Checks that a later offer keeps the earlier sections in order (RFC 3264 §8); only a rejected one may be replaced.
  func checkContinues(_ current: DescriptionPair?, _ transceivers: [Transceiver]) throws(JSEPError) {
    guard let current else { return }
    guard media.count >= current.remote.media.count else { throw .mLineMismatch(mLineIndex: media.count) }
    for (index, before) in current.remote.media.enumerated() {
      let wasDead = current.answer.media[index].port == 0
      let isSame = media[index].mid == before.mid && media[index].type == before.type
      guard wasDead || isSame else { throw .mLineMismatch(mLineIndex: index) }
    }
    var places: [String: Int] = [:]
    for (index, section) in media.enumerated() {
      if let mid = section.mid, places[mid] == nil { places[mid] = index }
    }
    for transceiver in transceivers {
      guard let mid = transceiver.stable.mid, let index = transceiver.stable.mLineIndex else { continue }
      let now = places[mid] ?? index
      guard now == index else { throw .mLineMismatch(mLineIndex: now) }
    }
  }

  /// Checks that an answer has the offer's sections in the offer's order (RFC 3264 §6).
  func checkAnswers(_ offer: SessionDescription) throws(JSEPError) {
    guard media.count == offer.media.count else {
      throw .mLineMismatch(mLineIndex: min(media.count, offer.media.count))
    }
    let live = media.indices.filter { media[$0].port != 0 }
    let (bundle, offered) = (self.bundle, offer.bundle)
    for (index, (answered, section)) in zip(media, offer.media).enumerated() {
      guard answered.type == section.type, answered.mid == nil || answered.mid == section.mid,
        answered.port == 0 || !section.isRejected
      else { throw .mLineMismatch(mLineIndex: index) }
      guard answered.port != 0 else { continue }
      guard !answered.isRTP || multiplexesRTCP(at: index) else {
        throw .missingRTCPMux(mLineIndex: index)
      }
      // Only the section that carries the transport may be outside a bundle.
      let isBundled = answered.mid.map(bundle.contains) ?? false
      guard isBundled || (bundle.isEmpty && live.count == 1 && index == live[0]) else {
        throw .notBundled(mLineIndex: index)
      }
    }
    for mid in bundle where !offered.contains(mid) { throw .invalidBundleGroup(mid: mid) }
    let rejected = Set(media.filter { $0.port == 0 }.compactMap(\.mid))
    for mid in bundle where rejected.contains(mid) { throw .invalidBundleGroup(mid: mid) }
  }
}
