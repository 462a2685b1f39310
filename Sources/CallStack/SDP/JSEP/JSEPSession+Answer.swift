internal import CallCore

extension JSEPSession {
  /// Answers the pending offer section by section. A section without a common codec is rejected, even if it is the only
  /// one (RFC 9429 §5.3.1).
  package mutating func createAnswer(_ parameters: TransportParameters) throws(JSEPError) -> SessionDescription {
    guard signalingState == .haveRemoteOffer || signalingState == .haveLocalPranswer,
      let offer = pendingRemoteDescription
    else { throw .wrongState(signalingState) }
    let accepted = acceptedSections(of: offer)
    let bundle = offer.bundle.filter { mid in accepted.contains { offer.media[$0.key].mid == mid } }
    let tagged = transportIndex(answering: offer, among: accepted)

    var setup = SetupRole.active
    if let tagged {
      let remote = try transport(of: offer, at: tagged)
      try checkCredentials(parameters, against: remote)
      setup = ownSetup(answering: remote)
    }
    let writer = SectionWriter(transport: parameters, setup: setup, isOffer: false)
    var identifiers = ExtensionIdentifiers(inUseBy: offer)
    var sections: [MediaDescription] = []
    for (index, offered) in offer.media.enumerated() {
      let place: SectionWriter.Place = index == tagged ? .tagged : .bundled
      switch accepted[index] {
      case .media(let transceiver, let codecs):
        let content = content(
          answering: offered, in: offer, with: codecs, for: transceiver, identifiers: &identifiers)
        sections.append(writer.section(content, place: place))
      case .data(let data): sections.append(writer.dataSection(data, answering: offered, place: place))
      case nil: if !Defect.rejectedSectionOmitted.isPlanted { sections.append(writer.rejection(of: offered)) }
      }
    }
    let answer = stamped(sections, bundle: bundle, parameters: parameters)
    createdAnswer = answer
    return answer
  }

  /// Our part of an accepted section.
  private enum Accepted {
    case media(Transceiver, [CodecDescription])
    case data(SCTPDescription)
  }

  /// Returns the sections that can be accepted.
  private func acceptedSections(of offer: SessionDescription) -> [Int: Accepted] {
    var accepted: [Int: Accepted] = [:]
    for (index, section) in offer.media.enumerated() where !section.isRejected && section.isRTP {
      // RFC 9429 §5.3.1: a section without RTCP multiplexing is rejected.
      guard offer.multiplexesRTCP(at: index),
        let transceiver = transceivers.first(where: { $0.mLineIndex == index && !$0.isStopping && !$0.isStopped })
      else { continue }
      let wanted = capabilities(transceiver).codecs
      let offered = section.codecs
      let codecs = offered.answered(by: wanted, inTheirOrder: transceiver.codecPreferences != nil)
      let role = offered.mainRole
      if codecs.contains(where: { $0.role == role }) { accepted[index] = .media(transceiver, codecs) }
    }
    if let data = configuration.data, let index = dataSection.association.mLineIndex, offer.media[index].sctp != nil {
      accepted[index] = .data(data)
    }
    // RFC 9429 §5.3.1: max-bundle accepts the first section and those bundled with it.
    let bundle = offer.bundle
    let isBundled = { (index: Int) in offer.media[index].mid.map(bundle.contains) ?? false }
    guard let first = accepted.keys.min() else { return [:] }
    return accepted.filter { $0.key == first || (isBundled(first) && isBundled($0.key)) }
  }

  /// Returns the section whose transport an answer uses: the first of the bundle that is not rejected (RFC 9143
  /// §7.3.1).
  func transportIndex(answering offer: SessionDescription) -> Int? {
    transportIndex(answering: offer, among: acceptedSections(of: offer))
  }

  private func transportIndex(answering offer: SessionDescription, among accepted: [Int: Accepted]) -> Int? {
    let tag = offer.bundle.lazy.compactMap { tag in offer.media.firstIndex { $0.mid == tag } }.first {
      accepted[$0] != nil
    }
    return tag ?? accepted.keys.min()
  }

  private func content(
    answering offered: MediaDescription, in offer: SessionDescription, with codecs: [CodecDescription],
    for transceiver: Transceiver, identifiers: inout ExtensionIdentifiers
  ) -> SectionWriter.Content {
    let capabilities = capabilities(transceiver)
    var extensions: [HeaderExtension] = []
    for entry in offered.attributes.headerExtensions where capabilities.headerExtensions.contains(entry.uri) {
      guard let id = entry.isUsable ? entry.id : identifiers.headerExtensions(for: [entry.uri]).first?.id else {
        continue
      }
      extensions.append(
        HeaderExtension(
          id: id, direction: entry.direction?.reversed, uri: entry.uri, parameters: entry.answeredParameters))
    }
    var content = SectionWriter.Content(
      kind: transceiver.kind, transportProtocol: offered.transportProtocol, mid: offered.mid,
      direction: transceiver.direction.intersection(offer.direction(of: offered).reversed),
      codecs: codecs, headerExtensions: extensions,
      sender: transceiver.direction.sends ? transceiver.sender : nil, capabilities: capabilities,
      reducedSizeRTCP: offered.attributes.contains("rtcp-rsize"))
    answerSimulcast(of: offered, in: &content)
    return content
  }

  /// Accepts the part of an offered simulcast for which we have encodings, and that we can receive (RFC 8853 section
  /// 5.3.2).
  private func answerSimulcast(of offered: MediaDescription, in content: inout SectionWriter.Content) {
    let numbers = content.codecs.map(\.payloadType)
    let restrictions = offered.restrictions.filter { restriction in
      restriction.payloadTypes.isEmpty || restriction.payloadTypes.contains(where: numbers.contains)
    }
    let simulcast = offered.simulcast?.filtered { id, _ in restrictions.contains { $0.id == id } }
    guard let simulcast else { return }
    let rids = content.direction.sends ? content.sender?.rids ?? [] : []
    var answer = Simulcast()
    answer.send = simulcast.receive.map { $0.filter { rids.contains($0.id) } }.filter { !$0.isEmpty }
    if content.direction.receives, content.capabilities.receivesSimulcast { answer.receive = simulcast.send }
    for (list, direction) in [(answer.send, Restriction.Direction.send), (answer.receive, .recv)] {
      for alternative in list.joined() {
        guard var restriction = restrictions.first(where: { $0.id == alternative.id }) else { continue }
        restriction.direction = direction
        restriction.payloadTypes.removeAll { !numbers.contains($0) }
        content.restrictions.append(restriction)
      }
    }
    if !answer.send.isEmpty || !answer.receive.isEmpty { content.simulcast = answer }
  }

  /// Checks that a restart is answered with new credentials, anything else with the old ones (RFC 8839 §4.4.1.1.1).
  private func checkCredentials(_ parameters: TransportParameters, against remote: TransportDescription)
    throws(JSEPError)
  {
    guard localTransport != nil else { return }
    let isChange = isChangeOfCredentials(parameters)
    if isRestart(remote), !isChange { throw .credentialsUnchanged }
    if !isRestart(remote), isChange { throw .credentialsChanged }
  }
}

extension [CodecDescription] {
  /// Returns the formats of an answer: the common codecs with the offerer's payload types (RFC 9429 §5.3.1).
  func answered(by capabilities: [CodecCapability], inTheirOrder: Bool) -> [CodecDescription] {
    let identities = capabilities.map { CodecIdentity($0) }
    var matches: [(offered: CodecDescription, capability: CodecCapability)] = []
    for codec in self {
      let identity = codec.identity
      guard let capability = zip(capabilities, identities).first(where: { $0.1 == identity })?.0,
        !matches.contains(where: { $0.capability == capability })
      else { continue }
      matches.append((codec, capability))
    }
    if inTheirOrder {
      matches = capabilities.compactMap { capability in matches.first { $0.capability == capability } }
    }
    // ULPFEC comes inside RED: one without the other is of no use.
    let ulpfec = matches.contains { $0.capability.name == CodecCapability.ulpfec.name }
    let red = matches.contains { $0.capability.role == .redundancy }
    if capabilities.contains(where: { $0.name == CodecCapability.ulpfec.name }), !ulpfec || !red {
      matches.removeAll { $0.capability.name == CodecCapability.ulpfec.name || $0.capability.role == .redundancy }
    }
    return matches.flatMap { match in
      var codec = CodecDescription(match.capability, payloadType: match.offered.payloadType)
      codec.feedback = match.capability.feedback.filter { match.offered.feedback.contains($0) }
      codec.parameters = .forAnswer(codec.name, offered: match.offered.parameters, local: codec.parameters)
      guard match.capability.retransmission, let own = retransmission(of: codec.payloadType) else {
        return [codec]
      }
      return [
        codec, CodecDescription(retransmitting: codec.payloadType, as: own, clockRate: codec.clockRate),
      ]
    }
  }
}
