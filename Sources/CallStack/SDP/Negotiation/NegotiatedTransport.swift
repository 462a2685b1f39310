/// One side's end of the single transport, from its description.
package struct TransportDescription: Hashable, Sendable {
  package let usernameFragment: String
  package let password: String
  package let options: [String]
  package let isLite: Bool
  /// The certificate's fingerprints; empty for a side without DTLS.
  package let fingerprints: [Fingerprint]
  /// The DTLS role in the description.
  package let setup: SetupRole?
  /// The values of `a=candidate`, parsed by ICE.
  package let candidates: [String]
  package let endOfCandidates: Bool

  /// Whether that side accepts trickled candidates (RFC 8838 §4).
  package var supportsTrickle: Bool { options.contains("trickle") }
}

/// The transport that all media shares (max-bundle, RFC 9429 §4.1.1).
package struct NegotiatedTransport: Hashable, Sendable {
  /// The MID of the section whose transport it is (RFC 9143 §7.3.1); nil from a peer without MIDs.
  package let mid: String?
  package let mLineIndex: Int
  package let remote: TransportDescription
  /// Our DTLS role: `active` is the client.
  package let setup: SetupRole
}

extension SessionDescription {
  /// Returns the sections that describe the transport of the one at `index`, the nearest first. A bundle-only section
  /// may leave this to the first of the bundle; the peer trickles candidates under that one until it has read the
  /// answer.
  private func transportSections(of index: Int, in bundle: [String]) -> [Int] {
    guard let mid = media[index].mid, bundle.contains(mid), let tag = bundle.first,
      let first = media.firstIndex(where: { $0.mid == tag }), first != index
    else { return [index] }
    return media[index].attributes.contains("bundle-only") ? [first, index] : [index, first]
  }

  /// Returns the sections whose candidates apply to the one at `index`.
  func candidateSections(of index: Int) -> [Int] {
    let sections = transportSections(of: index, in: bundle)
    return media[index].attributes.contains("bundle-only") ? sections : [index]
  }

  /// Returns the transport of the section at `index`, completed from the session section (RFC 8839 §5.4).
  ///
  /// - Parameter needsFingerprint: whether one without DTLS is an error.
  /// - Throws: the reason why the section has no transport.
  func transport(at index: Int, needsFingerprint: Bool = true) throws(JSEPError) -> TransportDescription {
    let sections = transportSections(of: index, in: bundle).map { media[$0].attributes } + [attributes]
    guard let fragments = sections.first(where: { $0.iceUsernameFragment != nil && $0.icePassword != nil }),
      let fragment = fragments.iceUsernameFragment, let password = fragments.icePassword
    else { throw .missingICECredentials(mLineIndex: index) }
    let fingerprints = sections.lazy.map(\.fingerprints).first { !$0.isEmpty } ?? []
    if fingerprints.isEmpty, needsFingerprint { throw .missingFingerprint(mLineIndex: index) }
    guard fingerprints.isEmpty || fingerprints.contains(where: \.isUsable) else {
      throw .unusableFingerprint(mLineIndex: index)
    }
    let candidates = candidateSections(of: index).map { media[$0].attributes }
    return TransportDescription(
      usernameFragment: fragment, password: password,
      options: sections.first { !$0.iceOptions.isEmpty }?.iceOptions ?? [],
      isLite: attributes.contains("ice-lite"), fingerprints: fingerprints,
      setup: sections.first { $0.setup != nil }?.setup,
      candidates: candidates.flatMap(\.candidates),
      endOfCandidates: candidates.contains { $0.contains("end-of-candidates") }
        || attributes.contains("end-of-candidates"))
  }

  /// Returns whether RTP and RTCP share the port of the section at `index`. A bundled section may leave the attribute
  /// to the first one of its group (RFC 9143 §7.1.3).
  package func multiplexesRTCP(at index: Int) -> Bool {
    if media[index].attributes.contains("rtcp-mux") { return true }
    return transportSections(of: index, in: bundle).contains { media[$0].attributes.contains("rtcp-mux") }
  }
}
