internal import CallCore

extension JSEPSession {
  /// Creates an offer for all transceivers; earlier sections keep their place (RFC 9429 §5.2).
  package mutating func createOffer(_ parameters: TransportParameters) throws(JSEPError) -> SessionDescription {
    guard signalingState == .stable || signalingState == .haveLocalOffer else { throw .wrongState(signalingState) }
    if isRestartRequested, !isChangeOfCredentials(parameters) { throw .credentialsUnchanged }

    let slots = offerSlots()
    guard !slots.isEmpty else { throw .nothingToNegotiate }
    var mid = nextMid
    let known = Set([current?.local, current?.remote].compactMap { $0 }.flatMap(\.media).compactMap(\.mid))
    let mids = slots.enumerated().map { index, slot in
      switch slot {
      case .media(let transceiver): offerMid(transceiver.stable.mid, besides: known, next: &mid)
      case .data: offerMid(dataSection.stable.mid, besides: known, next: &mid)
      case .rejected: current?.local.media[index].mid
      }
    }
    let bundle = offerBundle(slots, mids)

    var payloadTypes = PayloadTypes(inUseBy: current)
    var identifiers = ExtensionIdentifiers(inUseBy: current?.local, current?.remote)
    let writer = SectionWriter(transport: parameters, setup: .actpass, isOffer: true)
    var sections: [MediaDescription] = []
    for (index, slot) in slots.enumerated() {
      let isNew = slot.stableIndex(in: self) == nil
      let place: SectionWriter.Place = bundle.first == mids[index] ? .tagged : isNew ? .bundleOnly : .bundled
      guard case .media(let transceiver) = slot else {
        if case .data = slot, let data = configuration.data {
          sections.append(writer.dataSection(data, mid: mids[index], place: place))
        } else if let old = current?.local.media[index] {
          // Every slot after the earlier sections has something to offer.
          sections.append(writer.rejection(of: old))
        }
        continue
      }
      let capabilities = capabilities(transceiver)
      var content = SectionWriter.Content(
        kind: transceiver.kind,
        transportProtocol: parameters.fingerprints.isEmpty
          ? MediaDescription.cleartextProtocol : MediaDescription.securedProtocol,
        mid: mids[index], direction: transceiver.direction,
        codecs: payloadTypes.codecs(for: capabilities.codecs),
        headerExtensions: identifiers.headerExtensions(for: capabilities.headerExtensions),
        sender: transceiver.direction.sends ? transceiver.sender : nil, capabilities: capabilities)
      if let rids = content.sender?.rids, !rids.isEmpty {
        content.restrictions = rids.map { Restriction(id: $0, direction: .send) }
        content.simulcast = Simulcast(send: rids.map { [Simulcast.Alternative($0)] })
      }
      let received = receivedSimulcast(of: transceiver, capabilities)
      if !received.isEmpty {
        content.restrictions += received.joined().map { Restriction(id: $0.id, direction: .recv) }
        content.simulcast = Simulcast(send: content.simulcast?.send ?? [], receive: received)
      }
      guard content.codecs.contains(where: { [.media, .events].contains($0.role) }) else { throw .noCommonCodec }
      sections.append(writer.section(content, place: place))
    }
    let offer = stamped(sections, bundle: bundle, parameters: parameters)
    createdOffer = CreatedOffer(
      description: offer, transceivers: slots.map(\.transceiver),
      dataIndex: slots.firstIndex { if case .data = $0 { true } else { false } }, nextMid: mid)
    return offer
  }

  /// Returns the encodings that were negotiated to be received: an offer without them would end the simulcast (RFC 8853
  /// section 5.3.4).
  private func receivedSimulcast(
    of transceiver: Transceiver, _ capabilities: MediaCapabilities
  ) -> [[Simulcast.Alternative]] {
    guard transceiver.direction.receives, capabilities.receivesSimulcast, let index = transceiver.stable.mLineIndex,
      let current, current.remote.media[index].simulcast?.send.isEmpty == false
    else { return [] }
    return current.local.media[index].simulcast?.receive ?? []
  }

  /// The content of a section of an offer.
  private enum Slot {
    case media(Transceiver)
    case data
    case rejected

    var transceiver: Transceiver.ID? { if case .media(let transceiver) = self { transceiver.id } else { nil } }

    var isRejected: Bool { if case .rejected = self { true } else { false } }

    /// Returns the place that the content had in the last stable state.
    func stableIndex(in session: borrowing JSEPSession) -> Int? {
      switch self {
      case .media(let transceiver): transceiver.stable.mLineIndex
      case .data: session.dataSection.stable.mLineIndex
      case .rejected: nil
      }
    }
  }

  /// Returns the content of each section. An unanswered offer is ignored, because this one replaces it.
  private func offerSlots() -> [Slot] {
    if Defect.sectionsInOwnOrder.isPlanted { return transceivers.filter { !$0.isStopping }.map(Slot.media) }
    var slots: [Slot] = (0..<(current?.local.media.count ?? 0)).map { index in
      if dataSection.stable.mLineIndex == index { return .data }
      return transceivers.first { $0.stable.mLineIndex == index && !$0.isStopping }.map(Slot.media) ?? .rejected
    }
    let stopping = Set(transceivers.compactMap { $0.isStopping ? $0.stable.mLineIndex : nil })
    var new = transceivers.filter { $0.stable.mLineIndex == nil && !$0.isStopping }.map(Slot.media)
    if dataSection.isWanted, dataSection.stable.mLineIndex == nil { new.append(.data) }
    for slot in new {
      // A section that both sides know as rejected is reused (RFC 9429 §5.2.2), so that their number stays bounded.
      if let free = slots.indices.first(where: { slots[$0].isRejected && !stopping.contains($0) }) {
        slots[free] = slot
      } else {
        slots.append(slot)
      }
    }
    return slots
  }

  private func offerMid(_ stable: String?, besides known: Set<String>, next: inout Int) -> String {
    if let stable { return stable }
    while known.contains("\(next)"), !Defect.takenMidGivenOut.isPlanted { next += 1 }
    defer { next += 1 }
    return "\(next)"
  }

  /// Returns the MIDs of all live sections, the one whose transport is in use first (RFC 9143 §7.5).
  private func offerBundle(_ slots: [Slot], _ mids: [String?]) -> [String] {
    var live = zip(slots, mids).compactMap { $0.isRejected ? nil : $1 }
    if let tagged = transport?.mid, let position = live.firstIndex(of: tagged) {
      live.insert(live.remove(at: position), at: 0)
    }
    return live
  }
}
