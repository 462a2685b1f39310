internal import CallCore
internal import Codecs
internal import ICE
internal import PeerSession
internal import Pictures
internal import SCTP
internal import SDP
internal import Statistics

/// A peer connection of the built-in stack, on the sockets, timers and audio of a virtual device.
final class SessionConnection: PeerConnection {
  weak var delegate: (any PeerConnectionDelegate)?

  private let environment: ConnectionEnvironment
  private let host: SimulatedSessionHost
  private let driver: SessionDriver<SimulatedSessionHost>
  private let subject: String
  private let video: VideoSettings?
  /// The recorded frame in two channels; nil where the session takes one.
  private var stereoFrame: [Int16]?
  private var showsVideo = false
  private let forwards: Bool
  private var audioLevelObserver: ((Transceiver.ID, AudioLevelIndication) -> Void)?
  private var isClosed = false
  private var recording: CallRecording?
  private var audioSink: ((AudioBuffer) -> Void)?
  /// The picture that is shown, for a recording that begins.
  private var shownPicture: VideoFrame?

  init(
    configuration: SessionConfiguration, random: RandomSource, subject: String, environment: ConnectionEnvironment
  ) {
    self.environment = environment
    self.subject = subject
    video = configuration.video
    stereoFrame = configuration.audio.stereo && configuration.media == .real ? [] : nil
    forwards = configuration.forwards
    host = SimulatedSessionHost(environment, subject: subject)
    driver = SessionDriver(configuration: configuration, random: random, environment: host)
    host.connection = self
    host.onWake = { [unowned driver] in driver.advance() }
    if forwards {
      let table = environment.forwarding ?? ForwardingTable(clock: environment.clock)
      environment.forwarding = table
      driver.session.number = table.add(self)
    }
    updateInterfaces()
  }

  // MARK: State

  var signalingState: SignalingState { driver.session.signalingState }
  var connectionState: ConnectionState { driver.session.connectionState }
  var iceConnectionState: ICEConnectionState { driver.session.iceConnectionState }
  var iceGatheringState: ICEGatheringState { driver.session.iceGatheringState }
  var localDescription: SessionDescriptionText? { driver.session.localDescription }
  var hasRemoteDescription: Bool { driver.session.hasRemoteDescription }

  func statistics() -> StatsReport { driver.session.statistics(at: environment.clock.now) }

  func setConfiguration(_ configuration: ICEConfiguration) throws(SessionError) {
    try driver.session.setICEConfiguration(configuration)
  }

  /// Makes a change that may end streams.
  private func change(_ body: (CallSession, Instant) throws(SessionError) -> Void) throws(SessionError) {
    environment.streamsMayEnd?(subject, false)
    try driver.perform(body)
  }

  // MARK: Tracks

  var transceivers: [RTPTransceiver] { driver.session.rtpTransceivers }

  func addTrack(_ track: MediaStreamTrack) throws(SessionError) -> Transceiver.ID {
    defer { driver.drain() }
    let sender = try driver.session.addTrack(track)
    begin(track.kind, sends: true)
    tracksChanged()
    return sender
  }

  func addTransceiver(_ track: MediaStreamTrack, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID {
    defer { driver.drain() }
    var settings = settings
    if track.kind == .video, !forwards, settings.sendEncodings.isEmpty {
      settings.sendEncodings = video?.encodings ?? []
    }
    let transceiver = try driver.session.addTransceiver(track, settings)
    begin(track.kind, sends: true)
    tracksChanged()
    return transceiver
  }

  func addTransceiver(_ kind: MediaKind, _ settings: TransceiverInit) throws(SessionError) -> Transceiver.ID {
    defer { driver.drain() }
    let transceiver = try driver.session.addTransceiver(kind, settings)
    begin(kind, sends: false)
    tracksChanged()
    return transceiver
  }

  /// Starts the device that records or plays a kind of media.
  private func begin(_ kind: MediaKind, sends: Bool) {
    // A connection that forwards has no device.
    guard !forwards else { return }
    switch kind {
    case .audio: environment.beginAudio(self)
    case .video: if let video { environment.beginVideo(self, settings: video, sends: sends) }
    }
  }

  func removeTrack(_ sender: Transceiver.ID) throws(SessionError) {
    try change { session, _ throws(SessionError) in try session.removeTrack(sender) }
    tracksChanged()
  }

  func replaceTrack(_ track: MediaStreamTrack?, of sender: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.replaceTrack(track, of: sender) }
    tracksChanged()
  }

  func parameters(of sender: Transceiver.ID) throws(SessionError) -> SendParameters {
    try driver.session.sendParameters(of: sender)
  }

  func setParameters(_ parameters: SendParameters, of sender: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.setSendParameters(parameters, of: sender) }
  }

  func insertDTMF(
    _ tones: String, duration: Interval, interToneGap: Interval, of sender: Transceiver.ID
  ) throws(SessionError) {
    try driver.session.insertDTMF(tones, duration: duration, interToneGap: interToneGap, of: sender)
  }

  func toneBuffer(of sender: Transceiver.ID) -> String { driver.session.toneBuffer(of: sender) }

  func setTrackEnabled(_ enabled: Bool, of sender: Transceiver.ID?) {
    // A sender has one kind of media: the other call changes nothing.
    driver.session.setAudioEnabled(enabled, of: sender)
    driver.session.setVideoEnabled(enabled, of: sender)
    if forwards { driver.session.setForwardingEnabled(enabled, of: sender) }
  }

  func setReceivedAudioEnabled(_ enabled: Bool) throws(SessionError) { playsAudio = enabled }

  func setForwardingPolicy(_ policy: ForwardingPolicy, of sender: Transceiver.ID) throws(SessionError) {
    guard forwards else { throw .notSupported("the connection forwards nothing") }
    driver.session.setForwardingPolicy(policy, of: sender)
  }

  func observeAudioLevels(
    _ observer: @escaping (Transceiver.ID, AudioLevelIndication) -> Void
  ) throws(SessionError) {
    guard forwards else { throw .notSupported("the connection forwards nothing") }
    audioLevelObserver = observer
  }

  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError) {
    try change { session, _ throws(SessionError) in try session.setDirection(direction, of: transceiver) }
  }

  func setCodecPreferences(_ codecs: [CodecCapability], of transceiver: Transceiver.ID) throws(SessionError) {
    try driver.session.setCodecPreferences(codecs, of: transceiver)
  }

  func codecs(for kind: MediaKind) -> [CodecCapability] { driver.session.codecs(for: kind) }

  func stop(_ transceiver: Transceiver.ID) throws(SessionError) {
    try change { session, _ throws(SessionError) in try session.stop(transceiver) }
    tracksChanged()
  }

  // MARK: Forwarding

  /// The number among the connections that forward to each other.
  var number: Int { driver.session.number }

  private func tracksChanged() {
    if forwards { environment.forwarding?.update(self) } else { environment.captureChanged() }
  }

  /// Whether a track of the device of this kind is sent, or may be.
  func hasTrack(of kind: MediaKind) -> Bool {
    driver.session.rtpTransceivers.contains { $0.kind == kind && $0.sender.track != nil }
  }

  /// Whether audio is sent or received, or may be once it is negotiated.
  var usesAudio: Bool {
    driver.session.rtpTransceivers.contains {
      $0.kind == .audio && ($0.sender.track != nil || ($0.currentDirection ?? $0.direction).receives)
    }
  }

  /// Gives a received packet to the connections that send it on.
  func received(_ packet: ForwardedPacket) {
    environment.forwarding?.forward(packet, from: self)
    if let level = packet.audioLevel { audioLevelObserver?(packet.transceiver, level) }
  }

  /// Sends a packet that another connection received.
  func forward(_ packet: ForwardedPacket, to sender: Transceiver.ID) {
    driver.perform { session, now in session.forward(packet, to: sender, at: now) }
  }

  /// Asks the remote side for a key frame.
  func requestKeyFrame(of transceiver: Transceiver.ID, encoding: Int) {
    driver.perform { session, now in session.requestKeyFrame(of: transceiver, encoding: encoding, at: now) }
  }

  /// Returns where a packet that this connection forwards comes from.
  func origin(of ssrc: UInt32, timestamp: UInt32) -> (ssrc: UInt32, timestamp: UInt32)? {
    driver.session.origin(of: ssrc, timestamp: timestamp)
  }

  // MARK: Data channels

  var dataChannels: [DataChannelSnapshot] { driver.session.dataChannels }

  func createDataChannel(_ label: String, _ settings: DataChannelInit) throws(SessionError) -> DataChannelID {
    try driver.perform { session, now throws(SessionError) in
      try session.createDataChannel(label, settings, at: now)
    }
  }

  func send(_ message: DataChannelMessage, on channel: DataChannelID) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in try session.send(message, on: channel, at: now) }
    environment.traceSent(message.byteCount, on: channel.rawValue, of: subject)
  }

  func setBufferedAmountLowThreshold(_ threshold: Int, of channel: DataChannelID) {
    driver.session.setBufferedAmountLowThreshold(threshold, of: channel)
  }

  func closeDataChannel(_ channel: DataChannelID) {
    driver.perform { session, now in session.closeDataChannel(channel, at: now) }
  }

  // MARK: Negotiation

  func createOffer() throws(SessionError) -> SessionDescriptionText { try driver.session.createOffer() }

  func createAnswer() throws(SessionError) -> SessionDescriptionText { try driver.session.createAnswer() }

  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    try change { session, now throws(SessionError) in try session.setLocalDescription(description, at: now) }
    negotiated()
  }

  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    try change { session, now throws(SessionError) in try session.setRemoteDescription(description, at: now) }
    negotiated()
  }

  private func negotiated() { if !isClosed, !forwards { environment.captureChanged() } }

  /// Adds a remote candidate (`candidate:…`), or with nil the end of candidates.
  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.addICECandidate(candidate, mid: mid, mLineIndex: mLineIndex, at: now)
    }
  }

  /// Makes the next offer restart ICE (W3C `restartIce`).
  func restartICE() {
    driver.perform { session, _ in session.restartICE() }
  }

  /// Closes the connection. No event follows. Its sockets stay open until the relays are released, for a second at
  /// most.
  func close() {
    guard !isClosed else { return }
    environment.streamsMayEnd?(subject, true)
    isClosed = true
    delegate = nil
    audioLevelObserver = nil
    audioSink = nil
    recording?.stop()
    recording = nil
    environment.keep(self)
    driver.close()
    host.close()
    environment.endAudio(self)
    environment.endVideo(self)
    if forwards { environment.forwarding?.remove(self) }
    environment.connectionClosed(self)
  }

  func updateInterfaces() { driver.setAddresses(host.addresses) }

  /// Makes DTLS fail as by an error of its own. Returns false when it has ended already.
  func failDTLS() -> Bool { driver.perform { session, now in session.failDTLS(at: now) } }

  /// Makes the data channels that this side has opened fail as by an error of SCTP. Returns their number.
  func failDataChannels() -> Int { driver.perform { session, now in session.failDataChannels(at: now) } }

  // MARK: Video

  func sendVideo(_ input: VideoInput) {
    driver.sendVideo(input)
    for sent in driver.session.sentPictures { environment.videoRecord.send(sent) }
  }

  /// Whether a track sends the pictures of the camera and not black ones; nil if none has a source.
  var sendsPictures: Bool? { driver.session.sendsPictures }

  /// Shows a picture of a remote track.
  func show(_ frame: RenderedVideoFrame) {
    if let video, !showsVideo {
      showsVideo = true
      environment.beginVideo(self, settings: video, sends: false)
    }
    environment.device.shown(at: frame.rendered)
    if let picture = frame.picture {
      shownPicture = picture
      recording?.take(picture)
    }
    environment.videoRecord.show(frame, over: subject)
  }

  // MARK: Audio

  /// Sends the frame of the microphone, which has one channel. A session in stereo gets it in both.
  func sendAudio(_ samples: Span<Int16>) {
    environment.audioRecord.begin(samples)
    let isHeard = send(samples)
    if isHeard { recording?.take(sent: samples) }
  }

  /// Returns whether a track sends the frame and not silence in its place.
  private func send(_ samples: Span<Int16>) -> Bool {
    guard stereoFrame != nil else { return record(samples) }
    var frame = stereoFrame.take() ?? []
    frame.removeAll(keepingCapacity: true)
    for index in samples.indices {
      frame.append(samples[index])
      frame.append(samples[index])
    }
    defer { stereoFrame = frame }
    return record(frame.span)
  }

  private func record(_ samples: Span<Int16>) -> Bool {
    var isHeard = false
    driver.sendAudio(samples) {
      environment.audioRecord.record($0, over: subject, at: environment.clock.now)
      if !$0.isMuted { isHeard = true }
    }
    return isHeard
  }

  func sendAudio(_ level: AudioLevel, duration: Interval) {
    environment.audioRecord.begin(level)
    driver.sendAudio(level, duration: duration) {
      environment.audioRecord.record($0, over: subject, at: environment.clock.now)
    }
  }

  /// Whether the received audio is heard.
  private var playsAudio = true

  /// Takes `count` samples from the jitter buffer and returns their level; nil when nothing plays yet.
  func playAudio(sampleCount count: Int, into output: inout OutputSpan<Int16>) -> AudioLevel? {
    let start = output.count
    let played = driver.playAudio(sampleCount: count, into: &output)
    if let audioSink, start < output.count { give(output.span, after: start, to: audioSink) }
    if !playsAudio {
      var samples = output.mutableSpan
      for index in start..<samples.count { samples[index] = 0 }
    }
    // Of what is not heard nothing plays, whatever comes.
    if playsAudio, let onPlay = environment.audioRecord.onPlay { driver.session.playedPositions(onPlay) }
    environment.audioRecord.play(
      count, from: playsAudio ? played.place : .concealed, over: subject, at: environment.clock.now)
    environment.audioRecord.hear(output.span, after: start, over: subject) { driver.session.playedPlaces() }
    if let recording { record(output.span, after: start, length: count, in: recording) }
    return playsAudio ? played.level : played.level.map { _ in .silence }
  }

  // MARK: What an app gets of the sound

  func setAudioSink(_ sink: ((AudioBuffer) -> Void)?) throws(SessionError) {
    guard environment.media == .real else { throw .notSupported("synthetic media have no samples for a sink") }
    audioSink = sink
  }

  private func give(_ output: Span<Int16>, after start: Int, to sink: (AudioBuffer) -> Void) {
    let samples = (start..<output.count).map { output[$0] }
    sink(AudioBuffer(samples: samples, channelCount: 1, sampleRate: audioSampleRate, time: environment.clock.now))
  }

  func startRecording(
    _ format: RecordingFormat, limit: Int?, onFailure: @escaping (String) -> Void
  ) throws(SessionError) -> CallRecording {
    guard environment.media == .real, let files = environment.recordingFiles else {
      throw .notSupported("synthetic media have no pictures and no sound to record")
    }
    guard recording?.isOver ?? true else { throw .invalidState("a recording is in progress") }
    if let problem = format.problem { throw .invalidState(problem) }
    let begun: CallRecording
    do throws(CodecError) {
      begun = try CallRecording(format, limit: limit, clock: environment.clock, files: files, onFailure: onFailure)
    } catch { throw .invalidState("\(error)") }
    if let shownPicture { begun.take(shownPicture) }
    recording = begun
    return begun
  }

  private func record(_ output: Span<Int16>, after start: Int, length: Int, in recording: CallRecording) {
    let samples = start < output.count ? (start..<output.count).map { output[$0] } : []
    recording.take(played: samples[...], length: length)
  }
}
