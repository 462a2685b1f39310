internal import CallCore

extension JSEPSession {
  /// Creates an offer for all transceivers; earlier sections keep their place (RFC 9429 §5.2).
  package mutating func createOffer(_ parameters: TransportParameters) throws(JSEPError) -> SessionDescription {
    guard signalingState == .stable || signalingState == .haveLocalOffer else { throw .wrongState(signalingState) }
    if isRestartRequested, !isChangeOfCredentials(parameters) { throw .credentialsUnchanged }

    let slots = offerSlots()
    guard !slots.isEmpty else { throw .nothingToNegotiate }
    var mid = nextMid
    let mids = slots.enumerated().map { index, transceiver in
      transceiver.map { offerMid($0, next: &mid) } ?? current?.local.media[index].mid
    }
    let bundle = offerBundle(slots, mids)

    var payloadTypes = PayloadTypes(inUseBy: current?.local, current?.remote)
    var identifiers = ExtensionIdentifiers(inUseBy: current?.local, current?.remote)
    let writer = SectionWriter(transport: parameters, setup: .actpass, isOffer: true)
    var sections: [MediaDescription] = []
    for (index, transceiver) in slots.enumerated() {
      guard let transceiver else {
        // Every slot after the earlier sections has a transceiver.
        if let old = current?.local.media[index] { sections.append(writer.rejection(of: old)) }
        continue
      }
      let capabilities = capabilities(transceiver)
      var content = SectionWriter.Content(
        kind: transceiver.kind, mid: mids[index], direction: transceiver.direction,
        codecs: payloadTypes.codecs(for: capabilities.codecs),
        headerExtensions: identifiers.headerExtensions(for: capabilities.headerExtensions),
        sender: transceiver.direction.sends ? transceiver.sender : nil, capabilities: capabilities)
      if let rids = content.sender?.rids, !rids.isEmpty {
        content.restrictions = rids.map { Restriction(id: $0, direction: .send) }
        content.simulcast = Simulcast(send: rids.map { [Simulcast.Alternative($0)] })
      }
      guard content.codecs.contains(where: { [.media, .events].contains($0.role) }) else { throw .noCommonCodec }
      let isNew = transceiver.stable.mLineIndex == nil
      let place: SectionWriter.Place = bundle.first == mids[index] ? .tagged : isNew ? .bundleOnly : .bundled
      sections.append(writer.section(content, place: place))
    }
    let offer = stamped(sections, bundle: bundle, parameters: parameters)
    createdOffer = CreatedOffer(description: offer, transceivers: slots.map { $0?.id }, nextMid: mid)
    return offer
  }

  /// Returns the transceiver of each section, nil for a rejected one. An unanswered offer is ignored, because this one
  /// replaces it.
  private func offerSlots() -> [Transceiver?] {
    if Defect.sectionsInOwnOrder.isPlanted { return transceivers.filter { !$0.isStopping } }
    var slots: [Transceiver?] = (0..<(current?.local.media.count ?? 0)).map { index in
      transceivers.first { $0.stable.mLineIndex == index && !$0.isStopping }
    }
    let stopping = Set(transceivers.compactMap { $0.isStopping ? $0.stable.mLineIndex : nil })
    for transceiver in transceivers where transceiver.stable.mLineIndex == nil && !transceiver.isStopping {
      // A section that both sides know as rejected is reused (RFC 9429 §5.2.2), so that their number stays bounded.
      if let free = slots.indices.first(where: { slots[$0] == nil && !stopping.contains($0) }) {
        slots[free] = transceiver
      } else {
        slots.append(transceiver)
      }
    }
    return slots
  }

  private func offerMid(_ transceiver: Transceiver, next: inout Int) -> String {
    if let mid = transceiver.stable.mid { return mid }
    let known = [current?.local, current?.remote].compactMap { $0 }.flatMap(\.media).compactMap(\.mid)
    while known.contains("\(next)"), !Defect.takenMidGivenOut.isPlanted { next += 1 }
    defer { next += 1 }
    return "\(next)"
  }

  /// Returns the MIDs of all live sections, the one whose transport is in use first (RFC 9143 §7.5).
  private func offerBundle(_ slots: [Transceiver?], _ mids: [String?]) -> [String] {
    var live = zip(slots, mids).compactMap { $0 == nil ? nil : $1 }
    if let tagged = transport?.mid, let position = live.firstIndex(of: tagged) {
      live.insert(live.remove(at: position), at: 0)
    }
    return live
  }
}
