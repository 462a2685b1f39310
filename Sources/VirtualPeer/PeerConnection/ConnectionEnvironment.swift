package import CallCore
package import PeerSession
internal import SDP

/// The parts of the world that a media stack uses; the connections of one device share them.
///
/// Each connection has a trace subject: its own, such as `alice/to/bob`, or its peer's where there is a single one.
package final class ConnectionEnvironment {
  package let clock: PeerClock
  package let network: PeerNetwork
  package let device: Device
  package let random: RandomSource
  let media: MediaFidelity
  /// Gets every sample the speaker plays, 48 kHz mono.
  package let heard: ((Span<Int16>) -> Void)?
  package let audioRecord: AudioRecord
  package let videoRecord = VideoRecord()
  /// The data channels of the scenario; nil without any.
  var dataChannels: DataChannels?
  /// The tracks that connections pass on to each other; nil before a connection forwards.
  var forwarding: ForwardingTable?
  /// The recorded files of the device; nil for a server.
  var recordingFiles: RecordingFiles?
  var onClose: ((any PeerConnection) -> Void)?
  /// Called with the trace subject of a connection before something that may end streams of it, or all when it is closed: a
  /// last chance to read what they have counted.
  var streamsMayEnd: ((_ subject: String, _ isClosing: Bool) -> Void)?
  /// Closed connections that still release their TURN allocations.
  private var lingering: [any PeerConnection] = []
  private let trace: Trace
  private let keyLog: ((String) -> Void)?
  /// The connections that want audio, in the order in which they began. They own this environment.
  private var audible: [Weak] = []
  private var audioLoop: AudioLoop?
  private var videoLoop: VideoLoop?

  private struct Weak { weak var connection: (any PeerConnection)? }

  /// The number of TLS connections to TURN servers begun so far.
  var tlsConnectionCount = 0

  package init(
    clock: PeerClock, network: PeerNetwork, device: Device, random: RandomSource, media: MediaFidelity,
    trace: Trace, keyLog: ((String) -> Void)?, heard: ((Span<Int16>) -> Void)?
  ) {
    self.clock = clock
    self.network = network
    self.device = device
    self.random = random
    self.media = media
    self.trace = trace
    self.keyLog = keyLog
    self.heard = heard
    audioRecord = AudioRecord()
    device.onCapturerChanged = { [weak self] in self?.videoLoop?.capturerChanged() }
  }

  // MARK: Trace

  /// Writes the number of open peer connections of a device, or of one name.
  func traceOpenConnections(_ count: Int, of subject: String) {
    trace.write(PeerEvents.openConnections, trace.subject(subject), count)
  }

  /// Writes that a packet of a session could not leave the device.
  func traceUnsent(_ reason: String, of subject: String) {
    trace.write(PeerConnectionEvents.packetUnsent, trace.subject(subject), reason)
  }

  /// Writes that the application sent a message on a data channel.
  package func traceSent(_ byteCount: Int, on channel: Int, of subject: String) {
    trace.write(DataChannelEvents.messageSent, trace.subject(subject), channel, byteCount)
  }

  /// Writes that data has arrived on a stream that the session had closed.
  func traceLateData(from remote: Endpoint, of subject: String) {
    trace.write(PeerConnectionEvents.packetDiscarded, trace.subject(subject), PeerConnectionEvents.lateData, remote)
  }

  func tlsTrace(of subject: String) -> TLSTrace { TLSTrace(trace, subject: subject) }

  /// Passes on the secrets that decrypt a connection.
  func learn(keyLog line: String) { keyLog?(line) }

  package func makeEvents(of subject: String) -> ConnectionEvents {
    var events = ConnectionTrace(trace: trace, subject: subject, keyLog: keyLog)
    events.begin()
    return ConnectionEvents(events, clock: clock, device: device) { [weak self] event, connection in
      self?.dataChannels?.follow(event, of: connection, subject: subject)
    }
  }

  // MARK: Audio

  /// Starts the device's audio unit, which all its connections share, with the first connection that wants audio.
  package func beginAudio(_ connection: any PeerConnection) {
    guard !audible.contains(where: { $0.connection === connection }) else { return }
    device.startAudioUnit()
    audible.append(Weak(connection: connection))
    guard let connection = connection as? SessionConnection else { return }
    let loop = audioLoop ?? AudioLoop(environment: self)
    loop.add(connection)
    audioLoop = loop
  }

  /// Stops the audio unit when the last connection that wants audio ends.
  package func endAudio(_ connection: any PeerConnection) {
    audible.removeAll { $0.connection == nil || $0.connection === connection }
    if let connection = connection as? SessionConnection { audioLoop?.remove(connection) }
    guard audible.isEmpty else { return }
    audioLoop?.stop()
    audioLoop = nil
    device.stopAudioUnit()
  }

  // MARK: Video

  /// Starts the device's camera with the first connection that sends video, and watches what is shown.
  func beginVideo(_ connection: SessionConnection, settings: VideoSettings, sends: Bool) {
    if sends { device.setCamera(open: device.settings.camera != nil) }
    let loop = videoLoop ?? VideoLoop(environment: self, settings: settings)
    loop.remove(connection)
    loop.add(connection)
    videoLoop = loop
  }

  /// Stops the camera when the last connection that wants video ends.
  func endVideo(_ connection: SessionConnection) {
    guard let loop = videoLoop else { return }
    loop.remove(connection)
    guard loop.isEmpty else { return }
    loop.stop()
    videoLoop = nil
    device.setCamera(open: false)
    device.screenCleared()
  }

  // MARK: Capture

  /// Opens and closes microphone and camera with the tracks: a device records only for a track that is there (W3C
  /// mediacapture-streams section 4.3.1). The audio unit stops while no connection sends or receives audio, as
  /// libwebrtc stops recording without a stream to send, and playout without one to play.
  func captureChanged() {
    let connections = audible.compactMap { $0.connection as? SessionConnection }
    if !connections.isEmpty, connections.count == audible.count {
      device.setAudioUnit(isWanted: connections.contains(where: \.usesAudio))
    }
    device.setMicrophone(isWanted: connections.contains { $0.hasTrack(of: .audio) })
    guard let videoLoop else { return }
    device.setCamera(open: device.settings.camera != nil && videoLoop.sends)
  }

  // MARK: Lifetime

  package func connectionClosed(_ connection: any PeerConnection) {
    dataChannels?.closed(connection)
    onClose?(connection)
  }

  /// Keeps a closed connection alive until it has sent its last messages.
  package func keep(_ connection: any PeerConnection) { lingering.append(connection) }

  /// Lets go of closed connections that had messages to send: their process has ended.
  func processEnded() { lingering = [] }

  package func release(_ connection: any PeerConnection) { lingering.removeAll { $0 === connection } }
}
