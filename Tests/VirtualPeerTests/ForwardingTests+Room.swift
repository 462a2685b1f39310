import CallCore
import DTLS
import PeerSession
import SDP
import SimNet
import Statistics
import Testing

@testable import VirtualPeer

/// A room on a simulated network.
extension ForwardingTests {
  /// A client, and the server's connection to it.
  final class Member: PeerConnectionDelegate {
    let name: String
    let environment: ConnectionEnvironment
    let connection: any PeerConnection
    let seat: any PeerConnection
    private let runtime: HostRuntime
    private var early: [(fromSeat: Bool, text: String?, mid: String, index: Int)] = []

    init(_ name: String, _ room: Room, video: VideoSettings?) throws {
      self.name = name
      let simulator = room.simulator
      let host = try simulator.addHost(name)
      try simulator.attach(host, to: room.network, link: name, tx: room.link, rx: room.link)
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      var settings = Device.Settings()
      settings.microphone = .tone(frequency: name == "alice" ? 440 : 1_000)
      settings.camera = .movingBars
      settings.isSimulator = true
      var configuration = ForwardingTests.configuration(name, simulator)
      configuration.media = room.media
      configuration.video = video
      environment = ConnectionEnvironment(
        clock: runtime.clock, network: runtime.network,
        device: Device(settings: settings, trace: simulator.trace, peer: name), random: simulator.random.scoped(name),
        media: room.media, trace: simulator.trace, keyLog: nil, heard: nil)
      environment.audioRecord.keepSound()
      connection = PeerConnectionFactory(configuration: configuration, environment: environment, owner: name).make()
      seat = room.factory.make(to: name)
      connection.delegate = self
      seat.delegate = self
    }

    func connection(_ connection: any PeerConnection, did event: SessionEvent) {
      guard case .iceCandidate(let text, let mid, let index) = event else { return }
      early.append((connection === seat, text, mid, index))
      passCandidates()
    }

    private func passCandidates() {
      while let next = early.first {
        let other = next.fromSeat ? connection : seat
        guard other.hasRemoteDescription else { return }
        early.removeFirst()
        try? other.addICECandidate(next.text, mid: next.mid, mLineIndex: next.index)
      }
    }

    /// One side offers, and the other answers.
    func negotiate(fromSeat: Bool) throws {
      let (offerer, answerer) = fromSeat ? (seat, connection) : (connection, seat)
      let offer = try offerer.createOffer()
      try offerer.setLocalDescription(offer)
      try answerer.setRemoteDescription(offer)
      let answer = try answerer.createAnswer()
      try answerer.setLocalDescription(answer)
      try offerer.setRemoteDescription(answer)
      passCandidates()
    }

    /// Sends microphone and camera to the server.
    func publish(video: Bool = true) throws {
      try connection.addTransceiver(.microphone, TransceiverInit(direction: .sendonly))
      if video { try connection.addTransceiver(.camera, TransceiverInit(direction: .sendonly)) }
      try negotiate(fromSeat: false)
    }

    /// Gets from the server what another member sends.
    func subscribe(to other: Member, _ kinds: [MediaKind] = [.audio, .video]) throws {
      for transceiver in other.seat.transceivers
      where transceiver.currentDirection?.receives == true && kinds.contains(transceiver.kind) {
        try seat.addTransceiver(transceiver.receiver.track, TransceiverInit(direction: .sendonly))
      }
      try negotiate(fromSeat: true)
    }
  }

  final class Room {
    let simulator: Simulator
    let network: NetworkID
    let media: MediaFidelity
    let factory: PeerConnectionFactory
    let link = LinkSettings(delay: .milliseconds(10))
    private let runtime: HostRuntime
    private let server: ServerConnections
    private(set) var members: [Member] = []

    init(_ media: MediaFidelity = .synthetic, seed: UInt64 = 5) throws {
      self.media = media
      simulator = Simulator(trace: Trace(), random: RandomSource(seed: seed))
      network = try simulator.addNetwork("internet", prefixes: [IPPrefix("198.51.100.0/24")!])
      let host = try simulator.addHost("room")
      try simulator.attach(host, to: network, link: "room")
      runtime = HostRuntime(simulator: simulator, host: host, wallClock: WallClock())
      var session = ForwardingTests.configuration("room", simulator)
      session.media = media
      var configuration = CallServerHost.Media(session: session, userIDs: [:])
      var video = VideoSettings()
      video.codecs = VideoSettings.Codec.allCases
      configuration.forwarded.video = video
      configuration.forwarded.audio.codecs = AudioCodec.chromium
      configuration.forwarded.audio.transportFeedback = true
      server = ServerConnections(
        configuration, runtime: runtime, random: simulator.random.scoped("room"), trace: simulator.trace, name: "room")
      factory = server.makeFactory(sending: .receivedTracks)
    }

    func join(_ name: String, video: VideoSettings? = ForwardingTests.video(.vp8)) throws -> Member {
      let member = try Member(name, self, video: video)
      members.append(member)
      return member
    }

    /// Alice and Bob join, and send for a while.
    func joinBoth(for interval: Interval = .seconds(1)) throws -> (alice: Member, bob: Member) {
      let (alice, bob) = (try join("alice"), try join("bob"))
      for member in [alice, bob] { try member.publish() }
      run(for: interval)
      return (alice, bob)
    }

    func run(for duration: Interval) { simulator.run(until: simulator.now + duration) }

    /// Loses every `n`-th packet of a client's link in one direction.
    func lose(every n: Int?, _ direction: LinkDirection, of name: String) throws {
      try simulator.setLink(name, direction) { $0.loss = n.map { .every($0) } ?? .none }
    }

    /// The age of the speech that a member hears, if it is that of another one.
    func mouthToEar(to listener: Member, from speaker: Member) -> Interval? {
      guard let (position, at) = listener.environment.audioRecord.played(over: listener.name) else { return nil }
      let origin = server.origin(of: position.ssrc, timestamp: position.timestamp)
      return origin.flatMap {
        speaker.environment.audioRecord.recordingTime(of: AudioPosition(ssrc: $0.ssrc, timestamp: $0.timestamp))
      }.map { at - $0 }
    }

    /// The age of the picture that a member sees, if it is that of another one.
    func glassToGlass(to viewer: Member, from camera: Member) -> Interval? {
      let record = viewer.environment.videoRecord
      let newest = record.shownSources(over: viewer.name).compactMap { record.shown(of: $0, over: viewer.name) }.max {
        $0.at < $1.at
      }
      guard var shown = newest,
        let origin = server.origin(of: shown.ssrc, timestamp: shown.timestamp)
      else { return nil }
      (shown.ssrc, shown.timestamp) = origin
      return camera.environment.videoRecord.capture(of: shown).map { shown.at - $0.at }
    }
  }

  static func configuration(_ name: String, _ simulator: Simulator) -> SessionConfiguration {
    let random = simulator.random.scoped(name)
    return SessionConfiguration(
      certificate: Certificate.generate(
        name: name, entropy: .stream(random.stream("certificate")), wallClock: WallClock()),
      cname: name)
  }

  static func video(_ codec: VideoSettings.Codec) -> VideoSettings {
    var video = VideoSettings()
    video.codecs = [codec]
    (video.width, video.height) = (320, 240)
    return video
  }

  func number(
    _ connection: any PeerConnection, _ type: String, _ kind: MediaKind, _ member: String
  ) -> Int64 {
    if case .integer(let number)? = connection.statistics().first(type, kind: kind.rawValue)?[member] { return number }
    return -1
  }
}
