/// Offer and answer (RFC 9429) for one peer connection: descriptions in and out, and the negotiated result.
///
/// It has no transport, clock or randomness. The policies are max-bundle and rtcp-mux required, so there is one
/// transport. Glare is resolved by the application, which calls ``rollback()`` if it is
/// polite. A failed call changes nothing.
package struct JSEPSession: ~Copyable {
  package struct Configuration: Sendable {
    /// The decimal `sess-id` of the `o=` line: random, below 2^62 (RFC 9429 §5.2.1).
    package var sessionID: UInt64
    package var audio: MediaCapabilities
    package var video: MediaCapabilities
    /// Our end of the association of data channels; nil rejects them.
    package var data: SCTPDescription?
    /// Whether `a=setup:actpass` is answered with `passive` (RFC 8842 §5.3).
    package var answersPassively = false
    /// Whether a remote side without DTLS is refused (RFC 8827 §6.5).
    package var needsFingerprint = true

    package init(sessionID: UInt64, audio: MediaCapabilities, video: MediaCapabilities) {
      self.sessionID = sessionID
      self.audio = audio
      self.video = video
    }
  }

  struct CreatedOffer {
    let description: SessionDescription
    /// The transceiver of each section; nil for a rejected one.
    let transceivers: [Transceiver.ID?]
    /// The section of data channels, if there is one.
    let dataIndex: Int?
    let nextMid: Int
  }

  package let configuration: Configuration
  package internal(set) var signalingState = SignalingState.stable
  package internal(set) var transceivers: [Transceiver] = []
  /// The result of the last answer or provisional answer, in section order, without rejected sections.
  package internal(set) var media: [NegotiatedMedia] = []
  package internal(set) var transport: NegotiatedTransport?
  /// The section of data channels, by the last answer or provisional answer; nil if there is none.
  package internal(set) var data: NegotiatedData?

  var current: DescriptionPair?
  /// Our end of ``transport`` in the current description.
  var localTransport: TransportDescription?
  package internal(set) var pendingLocalDescription: SessionDescription?
  package internal(set) var pendingRemoteDescription: SessionDescription?
  var createdOffer: CreatedOffer?
  var createdAnswer: SessionDescription?
  /// Whether ``restartICE()`` was called and not yet answered.
  package internal(set) var isRestartRequested = false
  var dataSection = DataSection()
  var version: UInt64 = 0
  var nextMid = 0
  var nextTransceiver = 0

  package init(_ configuration: Configuration) { self.configuration = configuration }

  package var currentLocalDescription: SessionDescription? { current?.local }
  package var currentRemoteDescription: SessionDescription? { current?.remote }
  package var localDescription: SessionDescription? { pendingLocalDescription ?? current?.local }
  /// Whether the current descriptions began with a local offer.
  package var wasOfferer: Bool { current?.isLocalOffer ?? false }
  package var remoteDescription: SessionDescription? { pendingRemoteDescription ?? current?.remote }

  package mutating func close() {
    signalingState = .closed
    for index in transceivers.indices { transceivers[index].association.isStopped = true }
    createdOffer = nil
    createdAnswer = nil
  }

  /// Requests new ICE credentials in the next offer (W3C: restartIce). The request survives a rollback.
  package mutating func restartICE() throws(JSEPError) {
    try requireOpen()
    isRestartRequested = transport != nil
  }

  func capabilities(_ transceiver: Transceiver) -> MediaCapabilities {
    var result = transceiver.kind == .audio ? configuration.audio : configuration.video
    if let preferences = transceiver.codecPreferences { result.codecs = preferences }
    return result
  }

  func requireOpen() throws(JSEPError) {
    guard signalingState != .closed else { throw .wrongState(.closed) }
  }

  /// Returns the description with our `o=` line. Its version increases with every change (RFC 9429 §5.2.2).
  mutating func stamped(_ media: [MediaDescription], bundle: [String], parameters: TransportParameters)
    -> SessionDescription
  {
    var result = SessionDescription(
      origin: Origin(sessionID: "\(configuration.sessionID)", version: version), media: media)
    if !bundle.isEmpty { result.attributes.append("group", "BUNDLE " + bundle.joined(separator: " ")) }
    if parameters.isLite { result.attributes.append("ice-lite") }
    if !parameters.options.isEmpty {
      result.attributes.append("ice-options", parameters.options.joined(separator: " "))
    }
    guard result != localDescription else { return result }
    version += 1
    result.origin.version = version
    return result
  }

  func isChangeOfCredentials(_ parameters: TransportParameters) -> Bool {
    guard let localTransport else { return false }
    return localTransport.usernameFragment != parameters.usernameFragment
      || localTransport.password != parameters.password
  }
}
