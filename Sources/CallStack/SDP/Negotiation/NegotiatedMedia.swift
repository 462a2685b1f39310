/// One negotiated codec in one direction.
package struct NegotiatedCodec: Hashable, Sendable {
  package let name: String
  package let clockRate: UInt32
  package let channels: UInt8
  package let payloadType: UInt8
  /// The payload type of retransmissions (RFC 4588); nil unless both sides support them.
  package let retransmissionPayloadType: UInt8?
  /// For sending, the parameters to encode with; for receiving, those that we requested.
  package let parameters: FormatParameters
  /// The feedback that both sides support.
  package let feedback: [Feedback]

  /// Whether this is its name, compared without case (RFC 4855 section 3).
  package func isNamed(_ name: String) -> Bool { self.name.equalsIgnoringCase(name) }
}

/// The negotiated result for one `m=` section.
package struct NegotiatedMedia: Hashable, Sendable {
  package let mid: String
  package let mLineIndex: Int
  package let transceiver: Transceiver.ID
  package let kind: MediaKind
  package let direction: MediaDirection
  /// The codecs in the answer's order, the preferred one first. Never empty.
  package let sendCodecs: [NegotiatedCodec]
  package let receiveCodecs: [NegotiatedCodec]
  /// The common formats that assist, such as redundancy and events.
  package let sendHelpers: [NegotiatedCodec]
  package let receiveHelpers: [NegotiatedCodec]
  /// One encoding without a name, or those of a simulcast, in the receiver's order. Never empty.
  package let sendEncodings: [NegotiatedEncoding]
  package let receiveEncodings: [NegotiatedEncoding]
  /// The extensions that both sides support; directions are ours.
  package let headerExtensions: [HeaderExtension]
  /// The remote sources; empty if the peer announces none.
  package let remoteSources: [MediaSource]
  package let remoteStreamIDs: [MediaStreamID]
  package let reducedSizeRTCP: Bool
  /// The packet time in milliseconds that the remote side requests.
  package let packetTime: UInt32?
  package let maximumPacketTime: UInt32?
  /// The remote `b=` lines, those of the section first.
  package let remoteBandwidths: [Bandwidth]

  /// Returns the identifier of a header extension in sent or received packets; nil when they may not have it.
  package func extensionID(_ uri: String, sending: Bool) -> UInt8? {
    let entry = headerExtensions.first { entry in
      let direction = entry.direction ?? .sendrecv
      return entry.uri == uri && (sending ? direction.sends : direction.receives)
    }
    return entry.flatMap { UInt8(exactly: $0.id) }
  }
}

/// The two current descriptions, and which of them is the offer.
struct DescriptionPair {
  /// The descriptions; candidates that come later are added, which changes no format.
  var local: SessionDescription
  var remote: SessionDescription
  let isLocalOffer: Bool
  /// The formats of each section, parsed once: every step of a negotiation reads them.
  let localCodecs: [[CodecDescription]]
  let remoteCodecs: [[CodecDescription]]

  init(local: SessionDescription, remote: SessionDescription, isLocalOffer: Bool) {
    self.local = local
    self.remote = remote
    self.isLocalOffer = isLocalOffer
    localCodecs = local.media.map(\.codecs)
    remoteCodecs = remote.media.map(\.codecs)
  }

  var offer: SessionDescription { isLocalOffer ? local : remote }
  var answer: SessionDescription { isLocalOffer ? remote : local }
  private var offerCodecs: [[CodecDescription]] { isLocalOffer ? localCodecs : remoteCodecs }

  /// Returns the result for the section at `index`; nil when it is rejected or has no media of ours.
  func media(at index: Int, mid: String, transceiver: Transceiver.ID) -> NegotiatedMedia? {
    let (ours, theirs) = (local.media[index], remote.media[index])
    guard answer.media[index].port != 0, let kind = ours.kind else { return nil }
    let all = formatPairs(at: index)
    let role = offerCodecs[index].mainRole
    let pairs = all.filter { $0.local.role == role }
    guard !pairs.isEmpty else { return nil }
    let helpers = all.filter { $0.local.role != role }
    return NegotiatedMedia(
      mid: mid, mLineIndex: index, transceiver: transceiver, kind: kind, direction: direction(at: index),
      sendCodecs: pairs.map { sendCodec($0, at: index) },
      receiveCodecs: pairs.map { receiveCodec($0, at: index) },
      sendHelpers: helpers.map { sendCodec($0, at: index) },
      receiveHelpers: helpers.map { receiveCodec($0, at: index) },
      sendEncodings: sendEncodings(at: index), receiveEncodings: receiveEncodings(at: index),
      headerExtensions: headerExtensions(at: index),
      remoteSources: theirs.attributes.sources, remoteStreamIDs: theirs.attributes.streamIDs,
      reducedSizeRTCP: ours.attributes.contains("rtcp-rsize") && theirs.attributes.contains("rtcp-rsize"),
      packetTime: theirs.attributes.packetTime,
      maximumPacketTime: theirs.attributes.maximumPacketTime,
      remoteBandwidths: theirs.lines.bandwidths + remote.lines.bandwidths)
  }

  func direction(at index: Int) -> MediaDirection {
    let ours = local.direction(of: local.media[index])
    return ours.intersection(remote.direction(of: remote.media[index]).reversed)
  }

  /// Returns the codecs that both sections list, in the answer's order, without formats that only assist.
  func codecPairs(at index: Int) -> [(local: CodecDescription, remote: CodecDescription)] {
    let role = offerCodecs[index].mainRole
    return formatPairs(at: index).filter { $0.local.role == role }
  }

  /// Returns the formats that both sections list, in the answer's order. Retransmission is part of the format that it
  /// assists.
  private func formatPairs(at index: Int) -> [(local: CodecDescription, remote: CodecDescription)] {
    let (ours, theirs) = (localCodecs[index], remoteCodecs[index])
    let order = (isLocalOffer ? theirs : ours).filter {
      if case .retransmission = $0.role { false } else { true }
    }
    let (ourIdentities, theirIdentities) = (ours.map(\.identity), theirs.map(\.identity))
    return order.compactMap { wanted in
      let identity = wanted.identity
      guard let mine = ourIdentities.firstIndex(of: identity), let yours = theirIdentities.firstIndex(of: identity)
      else { return nil }
      return (ours[mine], theirs[yours])
    }
  }

  private func sendCodec(_ pair: (local: CodecDescription, remote: CodecDescription), at index: Int) -> NegotiatedCodec
  {
    let parameters = FormatParameters.forSending(
      pair.remote.name, remote: pair.remote.parameters, local: pair.local.parameters)
    return codec(pair, pair.remote, parameters: parameters, at: index, in: remoteCodecs)
  }

  private func receiveCodec(
    _ pair: (local: CodecDescription, remote: CodecDescription), at index: Int
  ) -> NegotiatedCodec {
    codec(pair, pair.local, parameters: pair.local.parameters, at: index, in: localCodecs)
  }

  /// Makes a codec with the receiver's payload type (RFC 3264 §5.1): theirs for sending, ours for receiving.
  private func codec(
    _ pair: (local: CodecDescription, remote: CodecDescription), _ numbered: CodecDescription,
    parameters: FormatParameters, at index: Int, in receiver: [[CodecDescription]]
  ) -> NegotiatedCodec {
    let both =
      localCodecs[index].retransmission(of: pair.local.payloadType) != nil
      && remoteCodecs[index].retransmission(of: pair.remote.payloadType) != nil
    return NegotiatedCodec(
      name: pair.local.name, clockRate: pair.local.clockRate, channels: pair.local.channels,
      payloadType: numbered.payloadType,
      retransmissionPayloadType: both
        ? receiver[index].retransmission(of: numbered.payloadType) : nil,
      parameters: parameters,
      feedback: pair.local.feedback.filter { pair.remote.feedback.contains($0) })
  }

  private func headerExtensions(at index: Int) -> [HeaderExtension] {
    let offered = offer.media[index].attributes.headerExtensions
    return answer.media[index].attributes.headerExtensions.compactMap { entry in
      guard entry.isUsable, offered.contains(where: { $0.uri == entry.uri }) else { return nil }
      let direction = isLocalOffer ? entry.direction?.reversed : entry.direction
      return HeaderExtension(id: entry.id, direction: direction, uri: entry.uri, parameters: entry.parameters)
    }
  }
}
