/// Offer and answer (RFC 9429) for one peer connection: descriptions in and out, and what they came to.
///
/// A value without transport, clock or chance. The policies are max-bundle and rtcp-mux required, so there is one
/// transport; data channels are declined. Who is polite under glare is the application's business: it calls
/// ``rollback()``. Every refused call leaves the session as it was.
package struct JSEPSession: ~Copyable {
  package struct Configuration: Sendable {
    /// The decimal `sess-id` of `o=`: random, below 2^62 (RFC 9429 §5.2.1).
    package var sessionID: UInt64
    package var audio: MediaCapabilities
    package var video: MediaCapabilities
    /// Answers `a=setup:actpass` with `passive` (RFC 8842 §5.3).
    package var answersPassively = false

    package init(sessionID: UInt64, audio: MediaCapabilities, video: MediaCapabilities) {
      self.sessionID = sessionID
      self.audio = audio
      self.video = video
    }
  }

  struct CreatedOffer {
    let description: SessionDescription
    /// Whose section each one is; nil for a rejected one.
    let transceivers: [Transceiver.ID?]
    let nextMid: Int
  }

  package let configuration: Configuration
  package internal(set) var signalingState = SignalingState.stable
  package internal(set) var transceivers: [Transceiver] = []
  /// The outcome of the last answer or provisional answer, in the order of the sections; rejected ones are left out.
  package internal(set) var media: [NegotiatedMedia] = []
  package internal(set) var transport: NegotiatedTransport?

  var current: DescriptionPair?
  /// Our own end of ``transport`` as the description in force tells it.
  var localTransport: TransportDescription?
  package internal(set) var pendingLocalDescription: SessionDescription?
  package internal(set) var pendingRemoteDescription: SessionDescription?
  var createdOffer: CreatedOffer?
  var createdAnswer: SessionDescription?
  /// Whether ``restartICE()`` has been asked for and no answer has brought it yet.
  package internal(set) var isRestartRequested = false
  var version: UInt64 = 0
  var nextMid = 0
  var nextTransceiver = 0

  package init(_ configuration: Configuration) { self.configuration = configuration }

  package var currentLocalDescription: SessionDescription? { current?.local }
  package var currentRemoteDescription: SessionDescription? { current?.remote }
  package var localDescription: SessionDescription? { pendingLocalDescription ?? current?.local }
  /// Whether the current descriptions began with an offer of ours.
  package var wasOfferer: Bool { current?.isLocalOffer ?? false }
  package var remoteDescription: SessionDescription? { pendingRemoteDescription ?? current?.remote }

  package mutating func close() {
    signalingState = .closed
    for index in transceivers.indices { transceivers[index].association.isStopped = true }
    createdOffer = nil
    createdAnswer = nil
  }

  /// Asks for new ICE credentials in the next offer (W3C: restartIce), also past a rollback in between.
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

  /// The description under our name; its version rises with every change (RFC 9429 §5.2.2).
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
