import CallCore

/// Writes the `m=` sections of our descriptions (RFC 9429 §5.2.1, §5.3.1).
struct SectionWriter {
  enum Place {
    /// Carries the transport of the whole bundle.
    case tagged
    /// Shares that transport.
    case bundled
    /// Offered for the first time and only within the bundle (RFC 9143 §6).
    case bundleOnly
  }

  let transport: TransportParameters
  let setup: SetupRole
  let isOffer: Bool

  struct Content {
    var kind: MediaKind
    var transportProtocol = MediaDescription.securedProtocol
    /// The MID; nil toward a peer whose sections have none.
    var mid: String?
    var direction: MediaDirection
    var codecs: [CodecDescription]
    var headerExtensions: [HeaderExtension]
    var sender: Transceiver.Sender?
    var capabilities: MediaCapabilities
    var reducedSizeRTCP = true
    /// The restrictions: in an answer the accepted part of the offer's simulcast, in an offer the proposed ones.
    var restrictions: [Restriction] = []
    var simulcast: Simulcast?
  }

  func section(_ content: Content, place: Place) -> MediaDescription {
    let endpoint = place == .bundleOnly ? nil : transport.defaultEndpoint
    var section = MediaDescription(
      type: content.kind.rawValue, port: place == .bundleOnly ? 0 : endpoint?.port ?? 9,
      transportProtocol: content.transportProtocol, formats: content.codecs.map { "\($0.payloadType)" },
      lines: [Line("c", Self.connection(endpoint).text)])
    appendTransport(to: &section.attributes, place: place)
    appendMedia(content, to: &section.attributes, place: place)
    for codec in content.codecs { append(codec, to: &section.attributes) }
    if let time = content.capabilities.packetTime { section.attributes.append("ptime", "\(time)") }
    if let time = content.capabilities.maximumPacketTime { section.attributes.append("maxptime", "\(time)") }
    for restriction in content.restrictions { section.attributes.append("rid", restriction.text) }
    if let simulcast = content.simulcast { section.attributes.append("simulcast", simulcast.text) }
    if let sender = content.sender { append(sender, of: content, to: &section.attributes) }
    return section
  }

  /// Returns a rejected section with the place and formats of the offered one (RFC 3264 §6).
  ///
  /// It needs neither transport nor format descriptions, but aiortc refuses a whole description for one section without
  /// the former, and Pion for one without the latter.
  func rejection(of section: MediaDescription) -> MediaDescription {
    var attributes: AttributeList = []
    appendTransport(to: &attributes, place: .bundled)
    if let mid = section.mid { attributes.append("mid", mid) }
    if section.isRTP {
      attributes.append("inactive")
      attributes.append("rtcp-mux")
      for map in section.attributes.rtpMaps where section.formats.contains("\(map.payloadType)") {
        attributes.append("rtpmap", map.text)
      }
    }
    return MediaDescription(
      type: section.type, port: 0, transportProtocol: section.transportProtocol, formats: section.formats,
      lines: [Line("c", Self.connection(nil).text)], attributes: attributes)
  }

  /// Returns the section of data channels of an offer (RFC 8841 §10.1).
  func dataSection(_ data: SCTPDescription, mid: String?, place: Place) -> MediaDescription {
    var section = dataSection(
      MediaDescription.dataProtocol, formats: [MediaDescription.dataFormat], mid: mid, place: place)
    section.attributes.append("sctp-port", "\(data.port)")
    appendMaximumMessageSize(data, to: &section.attributes)
    return section
  }

  /// Returns the section of data channels of an answer, in the form of the offered one (RFC 8841 §10.2).
  func dataSection(_ data: SCTPDescription, answering offered: MediaDescription, place: Place) -> MediaDescription {
    let isDraft = offered.dataForm == .draft
    var section = dataSection(
      offered.transportProtocol, formats: isDraft ? ["\(data.port)"] : offered.formats, mid: offered.mid, place: place)
    if isDraft {
      section.attributes.append("sctpmap", "\(data.port) \(MediaDescription.dataFormat) 65535")
    } else {
      section.attributes.append("sctp-port", "\(data.port)")
    }
    appendMaximumMessageSize(data, to: &section.attributes)
    return section
  }

  private func dataSection(
    _ transportProtocol: String, formats: [String], mid: String?, place: Place
  ) -> MediaDescription {
    let endpoint = place == .bundleOnly ? nil : transport.defaultEndpoint
    var section = MediaDescription(
      type: MediaDescription.dataType, port: place == .bundleOnly ? 0 : endpoint?.port ?? 9,
      transportProtocol: transportProtocol, formats: formats, lines: [Line("c", Self.connection(endpoint).text)])
    appendTransport(to: &section.attributes, place: place)
    if let mid { section.attributes.append("mid", mid) }
    if place == .bundleOnly { section.attributes.append("bundle-only") }
    return section
  }

  private func appendMaximumMessageSize(_ data: SCTPDescription, to attributes: inout AttributeList) {
    if let size = data.maximumMessageSize { attributes.append("max-message-size", "\(size)") }
  }

  static func connection(_ endpoint: Endpoint?) -> Connection {
    guard let endpoint else { return Connection(address: "0.0.0.0") }
    return Connection(addressType: endpoint.address.isIPv6 ? "IP6" : "IP4", address: "\(endpoint.address)")
  }

  /// Appends the transport. RFC 9143 §7 requires credentials in the tagged section only, but common peers repeat them
  /// in every section and refuse sections without. Candidates are in the tagged section only.
  private func appendTransport(to attributes: inout AttributeList, place: Place) {
    if place == .tagged {
      for candidate in transport.candidates { attributes.append("candidate", candidateValue(candidate)) }
      if transport.endOfCandidates { attributes.append("end-of-candidates") }
    }
    attributes.append("ice-ufrag", transport.usernameFragment)
    attributes.append("ice-pwd", transport.password)
    for fingerprint in transport.fingerprints { attributes.append("fingerprint", fingerprint.text) }
    if !transport.fingerprints.isEmpty { attributes.append("setup", setup.rawValue) }
  }

  private func appendMedia(_ content: Content, to attributes: inout AttributeList, place: Place) {
    if let mid = content.mid { attributes.append("mid", mid) }
    for entry in content.headerExtensions { attributes.append("extmap", entry.text) }
    attributes.append(content.direction.rawValue)
    for id in content.sender?.mediaStreamIDs ?? [] { attributes.append("msid", id.text) }
    if place == .bundleOnly { attributes.append("bundle-only") }
    attributes.append("rtcp-mux")
    if isOffer { attributes.append("rtcp-mux-only") }
    if content.reducedSizeRTCP { attributes.append("rtcp-rsize") }
  }

  private func append(_ codec: CodecDescription, to attributes: inout AttributeList) {
    let map = RTPMap(
      payloadType: codec.payloadType, encoding: codec.name, clockRate: codec.clockRate, channels: codec.channels)
    attributes.append("rtpmap", map.text)
    for feedback in codec.feedback { attributes.append("rtcp-fb", "\(codec.payloadType) \(feedback.text)") }
    if !codec.parameters.isEmpty { attributes.append("fmtp", "\(codec.payloadType) \(codec.parameters.text)") }
  }

  /// Appends the SSRCs, for peers that do not read the MID extension (RFC 9429 §5.2.1 leaves this open). A simulcast is
  /// identified by RIDs instead, as in browsers.
  private func append(_ sender: Transceiver.Sender, of content: Content, to attributes: inout AttributeList) {
    guard sender.rids.isEmpty else { return }
    let encoding = sender.encodings[0]
    let roles = content.codecs.map(\.role)
    let retransmits = roles.contains { if case .retransmission = $0 { true } else { false } }
    let second = retransmits ? encoding.retransmissionSSRC : nil
    let third = roles.contains(.repair) ? encoding.repairSSRC : nil
    if let second { attributes.append("ssrc-group", "FID \(encoding.ssrc) \(second)") }
    if let third { attributes.append("ssrc-group", "FEC-FR \(encoding.ssrc) \(third)") }
    for source in [encoding.ssrc, second, third].compactMap({ $0 }) {
      attributes.append("ssrc", "\(source) cname:\(sender.cname)")
    }
  }
}

extension Transceiver.Sender {
  /// The values of `a=msid` (RFC 8830 §3).
  var mediaStreamIDs: [MediaStreamID] {
    (streamIDs.isEmpty ? ["-"] : streamIDs).map { MediaStreamID(stream: $0, track: trackID) }
  }
}
