internal import CallCore
internal import ExternalRecords
internal import ICE
internal import PeerSession
internal import SCTP
internal import SDP
internal import SimNet
internal import Statistics
internal import VirtualPeer

/// A peer connection in a program: calls become requests, and the program's messages become events.
final class ExternalConnection: PeerConnection {
  weak var delegate: (any PeerConnectionDelegate)?

  private let environment: ConnectionEnvironment
  private let bridge: ExternalHost
  private let subject: String
  private var client: PeerProtocolClient?
  private var events: ConnectionEvents
  private var states = ConnectionStates()
  private var tracks: [Track] = []
  private var trackCount = 0
  private var channels = ExternalDataChannels()
  private var isClosed = false
  private var poll: PeerTimer?
  private var report = StatsReport(entries: [])
  private var recording: RecordingTail?
  private var ears: PeerTimer?
  private var candidates = LocalCandidates()
  private var restart = RestartDetector()
  private var hasFailed = false
  /// The number of unanswered requests that were posted without waiting for the answer.
  private var pendingPosts = 0
  private(set) var hasRemoteDescription = false

  /// A callback for the moment when the connection is established or closed, called once.
  var onSettled: (() -> Void)?

  /// Whether the session is configured for video.
  private let sendsVideo: Bool

  private struct Track {
    let id: Transceiver.ID
    let kind: MediaKind
    /// The program's name for the track; nil until the program has answered.
    var name: String?
    /// The value that was requested last.
    var isEnabled: Bool?
  }

  init(subject: String, sendsVideo: Bool, environment: ConnectionEnvironment, bridge: ExternalHost) {
    self.sendsVideo = sendsVideo
    self.environment = environment
    self.bridge = bridge
    self.subject = subject
    events = environment.makeEvents(of: subject)
  }

  /// Takes over a program that has answered `open`.
  ///
  /// - Parameter recording: the path of the file to which the program writes received audio.
  func begin(_ client: PeerProtocolClient, recording: String) {
    self.client = client
    self.recording = RecordingTail(path: recording)
    bridge.connectionOpened()
    bridge.pace.starvation.add(client.program, named: bridge.name)
    bridge.pace.watch(client.program.outputDescriptor) { [weak self] in self?.listen() }
    scheduleStatistics()
    listenToRecording()
  }

  func fail(_ error: ExternalError) {
    guard !hasFailed else { return }
    hasFailed = true
    if let client {
      bridge.pace.starvation.remove(client.program)
      bridge.pace.unwatch(client.program.outputDescriptor)
    }
    let trace = bridge.simulator.trace
    trace.write(ProgramEvents.failed, bridge.subject, error.description)
  }

  // MARK: State

  var signalingState: SignalingState { states.signaling }
  var connectionState: ConnectionState { states.connection }
  var iceConnectionState: ICEConnectionState { states.ice }
  var iceGatheringState: ICEGatheringState { states.gathering }
  private(set) var localDescription: SessionDescriptionText?

  /// The transceivers of the tracks that were added: a program reports no others.
  var transceivers: [RTPTransceiver] {
    tracks.map { track in
      RTPTransceiver(
        id: track.id, kind: track.kind, mid: nil, direction: .sendrecv, currentDirection: nil,
        sender: .init(track: MediaStreamTrack(track.kind, id: track.name ?? "")),
        receiver: .init(track: MediaStreamTrack(track.kind), isMuted: false))
    }
  }

  /// Returns the last statistics of the program, which are requested once a second.
  func statistics() -> StatsReport { report }

  // MARK: Requests

  func addTrack(_ track: MediaStreamTrack) throws(SessionError) -> Transceiver.ID {
    guard track.kind == .audio || sendsVideo else {
      throw .notSupported("a video track: the session is configured without video")
    }
    if track.kind == .audio { environment.beginAudio(self) }
    trackCount += 1
    let id = Transceiver.ID(number: trackCount)
    tracks.append(Track(id: id, kind: track.kind))
    try post("addTrack", ["kind": .string(track.kind.rawValue)]) { [weak self] result in
      self?.name(id, result["track"]?.string ?? "")
    }
    return id
  }

  private func name(_ id: Transceiver.ID, _ name: String) {
    guard let index = tracks.firstIndex(where: { $0.id == id }) else { return }
    tracks[index].name = name
    if let isEnabled = tracks[index].isEnabled { setTrackEnabled(isEnabled, of: id) }
  }

  func addTransceiver(_ track: MediaStreamTrack, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID {
    guard settings == TransceiverInit() else {
      throw .notSupported(
        "the peer protocol has tracks, and no transceivers with a direction or encodings of their own")
    }
    return try addTrack(track)
  }

  func addTransceiver(_ kind: MediaKind, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID {
    throw .notSupported("the peer protocol has no transceivers without a track")
  }

  func removeTrack(_ sender: Transceiver.ID) throws(SessionError) {
    guard let index = tracks.firstIndex(where: { $0.id == sender }) else {
      throw .invalidAccess("there is no such track")
    }
    guard let name = tracks[index].name else { throw .invalidState("the program is still adding the track") }
    tracks.remove(at: index)
    _ = try request("removeTrack", ["track": .string(name)])
  }

  func replaceTrack(_ track: MediaStreamTrack?, of sender: Transceiver.ID) throws(SessionError) {
    throw .notSupported("the peer protocol replaces no tracks")
  }

  func parameters(of sender: Transceiver.ID) throws(SessionError) -> SendParameters {
    throw .notSupported("the peer protocol has no parameters of senders")
  }

  func setParameters(_ parameters: SendParameters, of sender: Transceiver.ID) throws(SessionError) {
    throw .notSupported("the peer protocol has no parameters of senders")
  }

  func setCodecPreferences(_ codecs: [CodecCapability], of transceiver: Transceiver.ID) throws(SessionError) {
    throw .notSupported("the peer protocol has no preferences of codecs")
  }

  /// Returns no codecs: only the program's descriptions list them.
  func codecs(for kind: MediaKind) -> [CodecCapability] { [] }

  func setConfiguration(_ configuration: ICEConfiguration) throws(SessionError) {
    throw .notSupported("the peer protocol configures a connection once, when it is opened")
  }

  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError) {
    throw .notSupported("the peer protocol sets no directions")
  }

  func stop(_ transceiver: Transceiver.ID) throws(SessionError) {
    throw .notSupported("the peer protocol stops no transceivers")
  }

  // MARK: Data channels

  var dataChannels: [DataChannelSnapshot] { channels.snapshots }

  func createDataChannel(_ label: String, _ settings: DataChannelInit) throws(SessionError) -> DataChannelID {
    let id = channels.add(label, settings)
    try post("createDataChannel", settings.peerProtocolJSON(label: label)) { [weak self] result in
      self?.channels.name(id, result["channel"]?.string ?? "")
    }
    return id
  }

  func send(_ message: DataChannelMessage, on channel: DataChannelID) throws(SessionError) {
    guard let name = channels.name(of: channel) else { throw .invalidState("the data channel is not open") }
    _ = try request("sendData", message.peerProtocolJSON(channel: name), invalid: SessionError.operation)
    environment.traceSent(message.byteCount, on: channel.rawValue, of: subject)
  }

  /// Does nothing: the peer protocol has no thresholds.
  func setBufferedAmountLowThreshold(_ threshold: Int, of channel: DataChannelID) {}

  func closeDataChannel(_ channel: DataChannelID) {
    guard let name = channels.name(of: channel) else { return }
    client?.send("closeDataChannel", ["channel": .string(name)])
  }

  // MARK: Descriptions

  func createOffer() throws(SessionError) -> SessionDescriptionText {
    try description(in: request("createOffer", [:]), default: .offer)
  }

  func createAnswer() throws(SessionError) -> SessionDescriptionText {
    try description(in: request("createAnswer", [:]), default: .answer)
  }

  /// Does not wait for the answer where the state allows the call: a program may gather candidates before it answers,
  /// and gathering needs the simulated network to run.
  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    if states.signaling.allowsLocal(description.kind) {
      try post("setLocalDescription", description.peerProtocolJSON)
    } else {
      _ = try request("setLocalDescription", description.peerProtocolJSON)
    }
    localDescription = description.kind == .rollback ? nil : description
    if let byPeer = restart.applied(description, isLocal: true) { events.append(.iceRestart(byPeer: byPeer)) }
    enter(states.signaling.after(description.kind, isLocal: true))
  }

  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    // The program applies the answer only after the pending offer. Waiting would stop the simulated network.
    if pendingPosts > 0, description.kind == .answer, states.signaling == .haveLocalOffer {
      try post("setRemoteDescription", description.peerProtocolJSON)
    } else {
      _ = try request("setRemoteDescription", description.peerProtocolJSON)
    }
    hasRemoteDescription = true
    restart.note(description)
    enter(states.signaling.after(description.kind, isLocal: false))
  }

  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    let parameters: JSON = [
      "candidate": candidate.map { .string($0) } ?? .null, "sdpMid": mid.map { .string($0) } ?? .null,
      "sdpMLineIndex": mLineIndex.map { .integer(Int64($0)) } ?? .null,
    ]
    // A program rarely refuses a candidate that parses. Waiting for each of many would delay packets during ICE.
    if pendingPosts > 0 || candidate.flatMap({ ICECandidate($0) }) != nil {
      try post("addIceCandidate", parameters)
    } else {
      _ = try request("addIceCandidate", parameters, invalid: SessionError.invalidCandidate)
    }
  }

  func restartICE() {
    client?.send("restartIce", [:])
  }

  func insertDTMF(
    _ tones: String, duration: Interval, interToneGap: Interval, of sender: Transceiver.ID
  ) throws(SessionError) {
    throw .notSupported("the peer protocol has no DTMF digits")
  }

  func toneBuffer(of sender: Transceiver.ID) -> String { "" }

  func setReceivedAudioEnabled(_ enabled: Bool) throws(SessionError) {
    throw .notSupported("the peer protocol disables no received track")
  }

  func setTrackEnabled(_ enabled: Bool, of sender: Transceiver.ID?) {
    for index in tracks.indices where sender == nil || sender == tracks[index].id {
      tracks[index].isEnabled = enabled
      guard let name = tracks[index].name else { continue }
      client?.send("setEnabled", ["track": .string(name), "enabled": .bool(enabled)])
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    delegate = nil
    poll?.cancel()
    poll = nil
    ears?.cancel()
    ears = nil
    if let client {
      bridge.pace.starvation.remove(client.program)
      bridge.pace.unwatch(client.program.outputDescriptor)
      // Not awaited: a program may notify its servers before it answers, which needs the simulated network to run.
      client.send("close", [:])
      client.program.closeInput()
      bridge.connectionClosed()
    }
    states.close()
    events.deliver(from: self)
    events.close()
    environment.endAudio(self)
    environment.connectionClosed(self)
    settle()
  }

  private func settle() {
    onSettled?()
    onSettled = nil
  }

  /// Does nothing: the kernel has already notified the program.
  func updateInterfaces() {}

  // MARK: Answers

  /// Sends a request without waiting for the answer. A refusal fails the program, because the caller has returned. A
  /// refused candidate does not: it comes from the other side.
  private func post(
    _ method: String, _ parameters: JSON, then done: ((JSON) -> Void)? = nil
  ) throws(SessionError) {
    guard let client, !isClosed, client.failure == nil else { throw .invalidState("\(method): there is no program") }
    pendingPosts += 1
    client.send(method, parameters) { [weak self] answer in
      guard let self else { return }
      pendingPosts -= 1
      switch answer {
      case .success(let result): done?(result)
      case .failure where isClosed || method == "addIceCandidate": break
      case .failure(let error): self.client?.fail("refused \(method): \(error.name): \(error.message)")
      }
    }
  }

  private func answer(_ method: String, _ parameters: JSON) -> PeerProtocolClient.Answer {
    guard let client, !isClosed else {
      return .failure(PeerProtocolError(name: "InvalidStateError", message: "the connection has no program"))
    }
    let answer = client.call(method, parameters)
    takeEvents()
    return answer
  }

  private func request(
    _ method: String, _ parameters: JSON, invalid: (String) -> SessionError = SessionError.invalidDescription
  ) throws(SessionError) -> JSON {
    switch answer(method, parameters) {
    case .success(let result): return result
    case .failure(let error):
      let text = "\(method): \(error.name): \(error.message)"
      switch error.name {
      case "InvalidStateError": throw .invalidState(text)
      case "InvalidAccessError": throw .invalidAccess(text)
      case "NotSupportedError": throw .notSupported(text)
      default: throw invalid(text)
      }
    }
  }

  private func description(
    in result: JSON, default kind: SessionDescriptionText.Kind
  ) throws(SessionError) -> SessionDescriptionText {
    guard let sdp = result["sdp"]?.string else { throw .invalidDescription("the program gave no sdp") }
    let type = result["type"]?.string.flatMap(SessionDescriptionText.Kind.init)
    return SessionDescriptionText(type ?? kind, sdp: sdp)
  }

  /// Reports a change of the signalling state, unless the program has reported it first.
  private func enter(_ state: SignalingState) {
    if let change = states.enter(signaling: state) { events.append(change) }
    events.deliver(from: self)
  }

  // MARK: Events

  private func listen() {
    guard let client, !isClosed else { return }
    client.receive()
    takeEvents()
  }

  private func takeEvents() {
    while let event = client?.nextEvent() { take(event) }
    events.deliver(from: self)
    if states.connection == .connected { settle() }
    if let failure = client?.failure { fail(failure) }
  }

  private func take(_ event: JSON) {
    switch event["event"]?.string {
    case "error":
      client?.fail("cannot go on: \(event["message"]?.string ?? event.description)")
    case "selectedcandidatepairchange":
      if let local = summary(event["local"]), let remote = summary(event["remote"]) {
        events.append(.selectedCandidatePairChange(local: local, remote: remote))
      }
    case "icecandidateerror":
      let url = event["url"]?.string ?? ""
      events.append(
        .iceServerError(
          server: Self.endpoint(ofURL: url) ?? Endpoint(.anyIPv4, port: 0), url: url,
          code: Int(clamping: event["errorCode"]?.integer ?? 701), reason: event["errorText"]?.string ?? ""))
    case "signalingstatechange" where pendingPosts > 0:
      // The program lags behind: this state has already been reported.
      break
    default:
      if let candidate = event["candidate"]?.string { candidates.add(candidate) }
      if let change = states.take(event) ?? channels.take(event) { events.append(change) }
    }
  }

  private func summary(_ candidate: JSON?) -> CandidateSummary? {
    CandidateSummary(peerProtocol: candidate) { networkType(of: $0) }
  }

  private func networkType(of address: IPAddress) -> String {
    let known = candidates.bases(of: address).lazy.map { self.bridge.networkType(of: $0) }.first { $0 != .unknown }
    return (known ?? .unknown).rawValue
  }

  /// `turn:203.0.113.5:3478?transport=udp`
  private static func endpoint(ofURL url: String) -> Endpoint? {
    guard let colon = url.firstIndex(of: ":") else { return nil }
    return Endpoint(String(url[url.index(after: colon)...].prefix { $0 != "?" }))
  }

  // MARK: Statistics

  private static let period = Interval.seconds(1)

  private func scheduleStatistics() {
    poll = environment.clock.schedule(after: Self.period) { [weak self] in
      guard let self, !isClosed, !hasFailed else { return }
      client?.checkTimeouts()
      if let failure = client?.failure { return fail(failure) }
      client?.send("getStats", [:]) { [weak self] answer in
        guard let self, !isClosed, case .success(let result) = answer else { return }
        report = StatsReport(peerProtocol: result["stats"])
      }
      scheduleStatistics()
    }
  }

  /// The interval at which the recording is read.
  private static let attention = Interval.milliseconds(100)

  private func listenToRecording() {
    ears = environment.clock.schedule(after: Self.attention) { [weak self] in
      guard let self, !isClosed, let recording else { return }
      environment.device.played(isLoud: recording.isLoud(), at: environment.clock.now)
      listenToRecording()
    }
  }
}

extension SessionDescriptionText {
  var peerProtocolJSON: JSON { ["type": .string(kind.rawValue), "sdp": .string(sdp)] }
}
