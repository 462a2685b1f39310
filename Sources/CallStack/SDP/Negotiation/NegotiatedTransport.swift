/// One side's end of the one transport, as its description tells it.
package struct TransportDescription: Hashable, Sendable {
  package let usernameFragment: String
  package let password: String
  package let options: [String]
  package let isLite: Bool
  package let fingerprints: [Fingerprint]
  /// What that side says of its DTLS role.
  package let setup: SetupRole?
  /// Values of `a=candidate`, for ICE to read.
  package let candidates: [String]
  package let endOfCandidates: Bool

  /// Whether that side takes candidates one by one (RFC 8838 §4).
  package var supportsTrickle: Bool { options.contains("trickle") }
}

/// The transport all media shares (max-bundle, RFC 9429 §4.1.1).
package struct NegotiatedTransport: Hashable, Sendable {
  /// The section whose transport it is (RFC 9143 §7.3.1); nil from a peer without mids.
  package let mid: String?
  package let mLineIndex: Int
  package let remote: TransportDescription
  /// Our DTLS role: `active` is the client.
  package let setup: SetupRole
}

extension SessionDescription {
  /// The sections that tell of the transport of the one at `index`, the nearest first. A bundle-only section may leave
  /// it to the first of the bundle, and its peer trickles candidates under that one until it has read the answer.
  private func transportSections(of index: Int, in bundle: [String]) -> [Int] {
    guard let mid = media[index].mid, bundle.contains(mid), let tag = bundle.first,
      let first = media.firstIndex(where: { $0.mid == tag }), first != index
    else { return [index] }
    return media[index].attributes.contains("bundle-only") ? [first, index] : [index, first]
  }

  /// The sections whose candidates are those of the one at `index`.
  func candidateSections(of index: Int) -> [Int] {
    let sections = transportSections(of: index, in: bundle)
    return media[index].attributes.contains("bundle-only") ? sections : [index]
  }

  /// The transport of the section at `index`, filled up from the session section (RFC 8839 §5.4), or why there is none.
  func transport(at index: Int) throws(JSEPError) -> TransportDescription {
    let sections = transportSections(of: index, in: bundle).map { media[$0].attributes } + [attributes]
    guard let fragments = sections.first(where: { $0.iceUsernameFragment != nil && $0.icePassword != nil }),
      let fragment = fragments.iceUsernameFragment, let password = fragments.icePassword
    else { throw .missingICECredentials(mLineIndex: index) }
    guard let secured = sections.first(where: { !$0.fingerprints.isEmpty }) else {
      throw .missingFingerprint(mLineIndex: index)
    }
    guard secured.fingerprints.contains(where: \.isUsable) else { throw .unusableFingerprint(mLineIndex: index) }
    let candidates = candidateSections(of: index).map { media[$0].attributes }
    return TransportDescription(
      usernameFragment: fragment, password: password,
      options: sections.first { !$0.iceOptions.isEmpty }?.iceOptions ?? [],
      isLite: attributes.contains("ice-lite"), fingerprints: secured.fingerprints,
      setup: sections.first { $0.setup != nil }?.setup,
      candidates: candidates.flatMap(\.candidates),
      endOfCandidates: candidates.contains { $0.contains("end-of-candidates") }
        || attributes.contains("end-of-candidates"))
  }

  /// Whether RTP and RTCP share the port of the section at `index`. Like the rest of a transport, a bundled section may
  /// leave saying so to the first one of its group (RFC 9143 §7.1.3).
  package func multiplexesRTCP(at index: Int) -> Bool {
    if media[index].attributes.contains("rtcp-mux") { return true }
    return transportSections(of: index, in: bundle).contains { media[$0].attributes.contains("rtcp-mux") }
  }
}
