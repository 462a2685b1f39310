package import CallCore
package import CallSession

/// What the connections of one peer share: all that a media stack is given of the world.
package final class ConnectionEnvironment {
  package let clock: PeerClock
  package let network: PeerNetwork
  package let device: Device
  package let random: RandomSource
  let media: MediaFidelity
  /// Gets every sample the speaker plays, 48 kHz mono.
  package let heard: ((Span<Int16>) -> Void)?
  package let audioRecord: AudioRecord
  var onClose: ((any PeerConnection) -> Void)?
  /// Closed connections that still say farewell to their relays.
  private var lingering: [any PeerConnection] = []
  private let trace: Trace
  private let peer: String
  private let subject: TraceSubject
  private let keyLog: ((String) -> Void)?
  let tlsTrace: TLSTrace
  /// How many TLS connections to TURN servers have begun so far.
  var tlsConnectionCount = 0

  package init(
    peer: String, clock: PeerClock, network: PeerNetwork, device: Device, random: RandomSource, media: MediaFidelity,
    trace: Trace, keyLog: ((String) -> Void)?, heard: ((Span<Int16>) -> Void)?
  ) {
    self.peer = peer
    self.clock = clock
    self.network = network
    self.device = device
    self.random = random
    self.media = media
    self.trace = trace
    self.keyLog = keyLog
    self.heard = heard
    audioRecord = AudioRecord(media: media)
    subject = trace.subject(peer)
    tlsTrace = TLSTrace(trace, subject: peer)
  }

  /// Writes how many peer connections are open now.
  func traceOpenConnections(_ count: Int) { trace.write(PeerEvents.openConnections, subject, count) }

  /// Writes that what a session wanted to send could not leave the device.
  func traceUnsent(_ reason: String) { trace.write(PeerConnectionEvents.packetUnsent, subject, reason) }

  /// Passes on what decrypts a connection.
  func learn(keyLog line: String) { keyLog?(line) }

  package func makeEvents() -> ConnectionEvents {
    var events = ConnectionTrace(trace: trace, peer: peer, keyLog: keyLog)
    events.begin()
    return ConnectionEvents(events, clock: clock)
  }

  package func connectionClosed(_ connection: any PeerConnection) { onClose?(connection) }

  /// Keeps a closed connection alive until it is silent.
  package func keep(_ connection: any PeerConnection) { lingering.append(connection) }

  package func release(_ connection: any PeerConnection) { lingering.removeAll { $0 === connection } }
}
