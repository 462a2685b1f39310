package import CallCore

extension JSEPSession {
  /// Puts a candidate that was gathered meanwhile into our description, for peers that take whole descriptions only.
  ///
  /// - Parameter defaultEndpoint: the default candidate of all that there are now (RFC 8445 §5.1.4): who does not speak
  ///   ICE sends there, and may take a description without for a hold. nil when there is none.
  package mutating func addLocalCandidate(
    _ candidate: String, defaultEndpoint: Endpoint? = nil
  ) throws(JSEPError) {
    try appendLocal(Attribute("candidate", candidateValue(candidate)), defaultEndpoint)
  }

  /// Says in our description that no candidate follows (RFC 8840 §8.2).
  package mutating func endLocalCandidates() throws(JSEPError) {
    try appendLocal(Attribute("end-of-candidates"), nil)
  }

  /// The section of our description in whose transport local candidates are.
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

  /// Takes a trickled candidate of the far side into its description (W3C: addIceCandidate).
  ///
  /// - Parameters:
  ///   - candidate: the candidate's text; empty for the end of candidates.
  ///   - usernameFragment: the generation it belongs to; when nil, what the text says, or the newest.
  /// - Returns: whether it belongs to the transport in use, and not to a section whose own transport is never used.
  /// - Throws: `noRemoteDescription` when it came too early (the application keeps it), `unknownUsernameFragment` when it
  ///   came too late.
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

  /// Adds what is new: a peer that never stops to trickle must not fill the memory.
  fileprivate mutating func add(_ attribute: Attribute) {
    guard attributes.all.count < Self.attributeLimit, !attributes.all.contains(attribute) else { return }
    attributes.all.append(attribute)
  }
}

extension SessionDescription {
  /// The section whose transport the bundle uses.
  fileprivate var transportIndex: Int? {
    bundle.first.flatMap { tag in media.firstIndex { $0.mid == tag } } ?? media.firstIndex { !$0.isRejected }
  }

  /// A candidate that names no generation fits any.
  fileprivate func hasUsernameFragment(_ fragment: String?, at index: Int) -> Bool {
    guard media.indices.contains(index) else { return false }
    return fragment == nil || (try? transport(at: index))?.usernameFragment == fragment
  }
}

extension String {
  /// The value after a name in the extension part of a candidate (RFC 8839 §5.1).
  fileprivate func extensionValue(_ name: String) -> String? {
    let fields = fields()
    guard let position = fields.firstIndex(where: { $0 == name }), position + 1 < fields.count else { return nil }
    return String(fields[position + 1])
  }
}
