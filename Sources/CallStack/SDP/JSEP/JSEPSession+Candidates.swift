package import CallCore

extension JSEPSession {
  /// Adds a newly gathered candidate to our description, for peers that use only whole descriptions.
  ///
  /// - Parameter defaultEndpoint: the current default candidate (RFC 8445 §5.1.4), nil when there is none. A peer
  ///   without ICE sends there, and may treat a description without it as a hold.
  package mutating func addLocalCandidate(
    _ candidate: String, defaultEndpoint: Endpoint? = nil
  ) throws(JSEPError) {
    try appendLocal(Attribute("candidate", candidateValue(candidate)), defaultEndpoint)
  }

  /// Marks the end of candidates in our description (RFC 8840 §8.2).
  package mutating func endLocalCandidates() throws(JSEPError) {
    try appendLocal(Attribute("end-of-candidates"), nil)
  }

  /// The section of our description that holds local candidates.
  package var localTransportIndex: Int? { localDescription?.transportIndex }

  private mutating func appendLocal(_ attribute: Attribute, _ endpoint: Endpoint?) throws(JSEPError) {
    guard signalingState != .closed, var description = localDescription else { throw .wrongState(signalingState) }
    guard let index = description.transportIndex else { return }
    description.media[index].add(attribute)
    if let endpoint {
      for index in description.media.indices where description.media[index].port != 0 {
        description.media[index].setDefault(endpoint)
      }
    }
    if pendingLocalDescription != nil {
      pendingLocalDescription = description
    } else if var pair = current {
      // An assignment through `current?` never releases what was there before (Swift 6.3).
      pair.local = description
      current = pair
    }
  }

  /// Adds a trickled remote candidate to the remote description (W3C: addIceCandidate).
  ///
  /// - Parameters:
  ///   - candidate: the candidate's text; empty for the end of candidates.
  ///   - usernameFragment: the generation of the candidate; nil for that in its text, or else the newest.
  /// - Returns: whether the candidate belongs to the transport in use, not to a section whose own transport is never
  ///   used.
  /// - Throws: `noRemoteDescription` for an early candidate, which the application must keep; `unknownUsernameFragment`
  ///   for one of an earlier or a later generation.
  @discardableResult
  package mutating func addRemoteCandidate(
    _ candidate: String, mid: String? = nil, mLineIndex: Int? = nil, usernameFragment: String? = nil
  ) throws(JSEPError) -> Bool {
    try requireOpen()
    guard let newest = remoteDescription else { throw .noRemoteDescription }
    let index = mid.map { mid in newest.media.firstIndex { $0.mid == mid } } ?? mLineIndex
    guard let index, newest.media.indices.contains(index) else { throw .unknownSection }
    let value = candidateValue(candidate)
    let attribute = value.isEmpty ? Attribute("end-of-candidates") : Attribute("candidate", value)
    let fragment = usernameFragment ?? value.extensionValue("ufrag")
    if let pending = pendingRemoteDescription, pending.hasUsernameFragment(fragment, at: index) {
      pendingRemoteDescription?.media[index].add(attribute)
      return transportIndex(answering: pending).map { pending.candidateSections(of: $0).contains(index) } ?? false
    }
    guard let remote = current?.remote, remote.hasUsernameFragment(fragment, at: index) else {
      throw .unknownUsernameFragment
    }
    current?.remote.media[index].add(attribute)
    return transport.map { remote.candidateSections(of: $0.mLineIndex).contains(index) } ?? false
  }
}

extension MediaDescription {
  fileprivate mutating func setDefault(_ endpoint: Endpoint) {
    port = endpoint.port
    lines.removeAll { $0.type == "c" }
    lines.insert(Line("c", SectionWriter.connection(endpoint).text), at: 0)
  }

  private static let attributeLimit = 1_000

  /// Adds an attribute unless it is known or the limit is reached: endless trickling must not fill the memory.
  fileprivate mutating func add(_ attribute: Attribute) {
    guard attributes.all.count < Self.attributeLimit, !attributes.all.contains(attribute) else { return }
    attributes.all.append(attribute)
  }
}

extension SessionDescription {
  /// The index of the section whose transport the bundle uses.
  fileprivate var transportIndex: Int? {
    bundle.first.flatMap { tag in media.firstIndex { $0.mid == tag } } ?? media.firstIndex { !$0.isRejected }
  }

  /// Returns whether a candidate fits the generation; one without a fragment fits any.
  fileprivate func hasUsernameFragment(_ fragment: String?, at index: Int) -> Bool {
    guard media.indices.contains(index) else { return false }
    return fragment == nil || (try? transport(at: index, needsFingerprint: false))?.usernameFragment == fragment
  }
}

extension String {
  /// Returns the value of a name in the extension part of a candidate (RFC 8839 §5.1).
  fileprivate func extensionValue(_ name: String) -> String? {
    let fields = fields()
    guard let position = fields.firstIndex(where: { $0 == name }), position + 1 < fields.count else { return nil }
    return String(fields[position + 1])
  }
}
