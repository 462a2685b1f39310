import CallCore
import DTLS
import PeerSession
import SDP
import SimNet
import Statistics
import Testing

@testable import VirtualPeer

/// A server that forwards what each of its clients sends to the others, on a simulated network.
@Suite struct ForwardingTests {
  /// A client, and the server's connection to it.
  private final class Member: PeerConnectionDelegate {
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

  private final class Room {
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
      guard var shown = viewer.environment.videoRecord.shown(over: viewer.name),
        let origin = server.origin(of: shown.ssrc, timestamp: shown.timestamp)
      else { return nil }
      (shown.ssrc, shown.timestamp) = origin
      return camera.environment.videoRecord.captureTime(of: shown).map { shown.at - $0 }
    }
  }

  private static func configuration(_ name: String, _ simulator: Simulator) -> SessionConfiguration {
    let random = simulator.random.scoped(name)
    return SessionConfiguration(
      certificate: Certificate.generate(
        name: name, entropy: .stream(random.stream("certificate")), wallClock: WallClock()),
      cname: name)
  }

  private static func video(_ codec: VideoSettings.Codec) -> VideoSettings {
    var video = VideoSettings()
    video.codecs = [codec]
    (video.width, video.height) = (320, 240)
    return video
  }

  private func number(
    _ connection: any PeerConnection, _ type: String, _ kind: MediaKind, _ member: String
  ) -> Int64 {
    if case .integer(let number)? = connection.statistics().first(type, kind: kind.rawValue)?[member] { return number }
    return -1
  }

  // MARK: Both ways

  @Test(arguments: VideoSettings.Codec.allCases, [MediaFidelity.synthetic, .real])
  func `two clients hear and see each other through the server`(
    _ codec: VideoSettings.Codec, _ media: MediaFidelity
  ) throws {
    let room = try Room(media)
    let alice = try room.join("alice", video: Self.video(codec))
    let bob = try room.join("bob", video: Self.video(codec))
    for member in [alice, bob] { try member.publish() }
    room.run(for: .seconds(1))
    try alice.subscribe(to: bob)
    try bob.subscribe(to: alice)
    room.run(for: .seconds(2))
    for (one, other) in [(alice, bob), (bob, alice)] {
      let heard = try #require(room.mouthToEar(to: one, from: other))
      let seen = try #require(room.glassToGlass(to: one, from: other))
      // Two links of 10 ms on the way, and no encoder but the one at its beginning.
      #expect((.milliseconds(30)...(.milliseconds(160))).contains(heard), "\(heard)")
      #expect((.milliseconds(30)...(.milliseconds(160))).contains(seen), "\(seen)")
      #expect(number(one.connection, "inbound-rtp", .video, "framesRendered") > 45)
      #expect(number(one.connection, "inbound-rtp", .video, "freezeCount") == 0)
    }
  }

  @Test func `a client hears two others, each from a stream of its own`() throws {
    let room = try Room()
    let members = try ["alice", "bob", "carol"].map { try room.join($0, video: nil) }
    for member in members { try member.publish(video: false) }
    room.run(for: .seconds(1))
    for member in members {
      for other in members where other !== member { try member.subscribe(to: other) }
    }
    room.run(for: .seconds(2))
    for member in members {
      let heard = member.connection.statistics().entries.filter { $0.type == "inbound-rtp" }
      #expect(heard.count == 2)
      for entry in heard {
        guard case .integer(let count)? = entry["packetsReceived"] else {
          Issue.record("no count")
          continue
        }
        #expect(count > 80)
      }
    }
  }

  @Test func `what the server sends has its own source, and the payload type of the one who gets it`() throws {
    let room = try Room()
    let alice = try room.join("alice")
    var both = Self.video(.vp8)
    both.codecs = [.h264, .vp8]
    let bob = try room.join("bob", video: both)
    try alice.publish()
    try bob.publish()
    room.run(for: .seconds(1))
    // Bob prefers another codec, and gets what Alice sends all the same.
    try bob.subscribe(to: alice)
    room.run(for: .seconds(2))
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") > 40)
    let sent = number(alice.connection, "outbound-rtp", .video, "ssrc")
    let forwarded = number(bob.seat, "outbound-rtp", .video, "ssrc")
    #expect(sent != forwarded && number(bob.connection, "inbound-rtp", .video, "ssrc") == forwarded)
  }

  // MARK: Loss

  @Test func `what is lost on the way to a client is sent again by the server`() throws {
    let room = try Room()
    let (alice, bob) = try room.joinBoth()
    try bob.subscribe(to: alice)
    room.run(for: .seconds(1))
    try room.lose(every: 10, .rx, of: "bob")
    room.run(for: .seconds(5))
    let lost = number(bob.connection, "inbound-rtp", .video, "packetsLost")
    #expect(lost > 20)
    #expect(number(bob.seat, "outbound-rtp", .video, "retransmittedPacketsSent") >= lost * 3 / 4)
    #expect(number(alice.connection, "outbound-rtp", .video, "nackCount") == 0)
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") > 160)
    #expect(number(bob.connection, "inbound-rtp", .video, "freezeCount") == 0)
  }

  @Test func `what is lost on the way to the server is requested there, and forwarded once it has come`() throws {
    let room = try Room()
    let (alice, bob) = try room.joinBoth()
    try bob.subscribe(to: alice)
    room.run(for: .seconds(1))
    try room.lose(every: 10, .tx, of: "alice")
    room.run(for: .seconds(5))
    #expect(number(alice.seat, "inbound-rtp", .video, "packetsLost") > 20)
    #expect(number(alice.seat, "inbound-rtp", .video, "retransmittedPacketsReceived") > 15)
    #expect(number(alice.connection, "outbound-rtp", .video, "retransmittedPacketsSent") > 15)
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") > 160)
    #expect(number(bob.connection, "inbound-rtp", .video, "freezeCount") == 0)
  }

  @Test func `reordered and repeated packets are forwarded once`() throws {
    let room = try Room()
    let (alice, bob) = try room.joinBoth()
    try bob.subscribe(to: alice)
    try room.simulator.setLink("alice", .tx) {
      $0.duplication = 0.2
      $0.jitter = .uniform(.milliseconds(8))
      $0.order = .allow
    }
    room.run(for: .seconds(4))
    try room.simulator.setLink("alice", .tx) { $0.duplication = 0 }
    room.run(for: .milliseconds(500))
    let received = number(alice.seat, "inbound-rtp", .audio, "packetsReceived")
    let forwarded = number(bob.seat, "outbound-rtp", .audio, "packetsSent")
    #expect(received > 0 && forwarded < number(alice.connection, "outbound-rtp", .audio, "packetsSent") + 1)
    #expect(number(bob.connection, "inbound-rtp", .audio, "packetsLost") == 0)
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") > 100)
  }

  // MARK: Key frames

  @Test func `a client that comes late gets a key frame at once, and one is made for it`() throws {
    let room = try Room()
    let (alice, bob) = try room.joinBoth(for: .seconds(5))
    let before = number(alice.connection, "outbound-rtp", .video, "keyFramesEncoded")
    try bob.subscribe(to: alice)
    room.run(for: .milliseconds(400))
    #expect(number(alice.connection, "outbound-rtp", .video, "pliCount") > 0)
    #expect(number(alice.connection, "outbound-rtp", .video, "keyFramesEncoded") == before + 1)
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") > 2)
  }

  @Test func `a request of a client for a key frame reaches the camera`() throws {
    let room = try Room()
    let alice = try room.join("alice")
    var video = Self.video(.vp8)
    (video.nack, video.retransmission) = (false, false)
    let bob = try room.join("bob", video: video)
    for member in [alice, bob] { try member.publish() }
    room.run(for: .seconds(1))
    try bob.subscribe(to: alice)
    room.run(for: .seconds(2))
    let before = number(alice.connection, "outbound-rtp", .video, "keyFramesEncoded")
    try room.lose(every: 1, .rx, of: "bob")
    room.run(for: .milliseconds(100))
    try room.lose(every: nil, .rx, of: "bob")
    room.run(for: .seconds(5))
    #expect(number(bob.seat, "outbound-rtp", .video, "pliCount") > 0)
    #expect(number(alice.seat, "inbound-rtp", .video, "pliCount") > 0)
    #expect(number(alice.connection, "outbound-rtp", .video, "keyFramesEncoded") > before)
    let seen = try #require(room.glassToGlass(to: bob, from: alice))
    #expect(seen < .milliseconds(160))
  }

  // MARK: Tracks

  @Test func `a sender goes over to another member's track without negotiation`() throws {
    let room = try Room()
    let (alice, bob, carol) = (try room.join("alice"), try room.join("bob"), try room.join("carol"))
    for member in [alice, bob, carol] { try member.publish() }
    room.run(for: .seconds(1))
    try carol.subscribe(to: alice)
    room.run(for: .seconds(2))
    #expect(room.glassToGlass(to: carol, from: alice) != nil)
    for kind in [MediaKind.audio, .video] {
      let sender = try #require(carol.seat.transceivers.first { $0.kind == kind && $0.sender.track != nil })
      let other = try #require(bob.seat.transceivers.first { $0.kind == kind && $0.currentDirection == .recvonly })
      try carol.seat.replaceTrack(other.receiver.track, of: sender.id)
    }
    room.run(for: .seconds(2))
    #expect(carol.seat.signalingState == .stable)
    #expect(room.mouthToEar(to: carol, from: bob) != nil && room.mouthToEar(to: carol, from: alice) == nil)
    #expect(room.glassToGlass(to: carol, from: bob) != nil && room.glassToGlass(to: carol, from: alice) == nil)
    #expect(number(carol.connection, "inbound-rtp", .video, "packetsLost") == 0)
    #expect(carol.connection.statistics().entries.count { $0.type == "inbound-rtp" } == 2)
  }

  @Test func `a removed or disabled track is no longer forwarded, and an enabled one is again`() throws {
    let room = try Room()
    let (alice, bob) = (try room.join("alice", video: nil), try room.join("bob", video: nil))
    for member in [alice, bob] { try member.publish(video: false) }
    room.run(for: .seconds(1))
    try bob.subscribe(to: alice)
    room.run(for: .seconds(1))
    let sender = try #require(bob.seat.transceivers.first { $0.sender.track != nil })
    func sentInASecond() -> Int64 {
      let before = number(bob.seat, "outbound-rtp", .audio, "packetsSent")
      room.run(for: .seconds(1))
      return number(bob.seat, "outbound-rtp", .audio, "packetsSent") - before
    }
    #expect(sentInASecond() > 40)
    bob.seat.setTrackEnabled(false, of: sender.id)
    #expect(sentInASecond() == 0)
    bob.seat.setTrackEnabled(true, of: sender.id)
    #expect(sentInASecond() > 40)
    try bob.seat.replaceTrack(nil, of: sender.id)
    #expect(sentInASecond() == 0)
    #expect(number(bob.connection, "inbound-rtp", .audio, "packetsLost") == 0)
  }

  // MARK: Counting

  @Test func `the server counts what it received and what it sent`() throws {
    let room = try Room()
    let (alice, bob) = try room.joinBoth()
    try bob.subscribe(to: alice)
    room.run(for: .seconds(3))
    // Nothing is under way while both tracks are gone.
    for transceiver in alice.connection.transceivers {
      try alice.connection.replaceTrack(nil, of: transceiver.id)
    }
    room.run(for: .seconds(1))
    for kind in [MediaKind.audio, .video] {
      #expect(
        number(alice.connection, "outbound-rtp", kind, "packetsSent")
          == number(alice.seat, "inbound-rtp", kind, "packetsReceived"))
      #expect(
        number(bob.seat, "outbound-rtp", kind, "packetsSent")
          == number(bob.connection, "inbound-rtp", kind, "packetsReceived"))
      #expect(
        number(bob.seat, "outbound-rtp", kind, "bytesSent")
          == number(bob.connection, "inbound-rtp", kind, "bytesReceived"))
      #expect(number(bob.seat, "remote-inbound-rtp", kind, "packetsLost") == 0)
      #expect(number(alice.connection, "remote-inbound-rtp", kind, "packetsLost") == 0)
    }
  }

  @Test func `the same seed gives the same packets`() throws {
    func play() throws -> [Int64] {
      let room = try Room(seed: 9)
      let (alice, bob) = try room.joinBoth()
      try bob.subscribe(to: alice)
      try room.simulator.setLink("bob", .rx) { $0.loss = .random(0.05) }
      room.run(for: .seconds(2))
      return ["ssrc", "packetsSent", "bytesSent", "retransmittedPacketsSent"].map {
        number(bob.seat, "outbound-rtp", .video, $0)
      }
    }
    #expect(try play() == play())
  }

  // MARK: What is refused

  private func refusal(_ body: () throws(SessionError) -> Void) -> String? {
    do throws(SessionError) {
      try body()
      return nil
    } catch { return error.name }
  }

  @Test func `a track of the device, a limit and a simulcast are refused by a connection that forwards`() throws {
    let room = try Room()
    let alice = try room.join("alice")
    try alice.publish()
    room.run(for: .seconds(1))
    let seat = alice.seat
    #expect(refusal { () throws(SessionError) in try seat.addTrack(.microphone) } == "NotSupportedError")
    let track = try #require(seat.transceivers.first { $0.kind == .video }).receiver.track
    let layers = [EncodingParameters(rid: "a"), EncodingParameters(rid: "b")]
    let limited = [EncodingParameters(maxBitrate: .kilobitsPerSecond(100))]
    for encodings in [layers, limited] {
      #expect(
        refusal { () throws(SessionError) in
          try seat.addTransceiver(track, TransceiverInit(direction: .sendonly, sendEncodings: encodings))
        } == "NotSupportedError")
    }
    let sender = try seat.addTransceiver(track, TransceiverInit(direction: .sendonly))
    var parameters = try seat.parameters(of: sender)
    parameters.encodings[0].maxBitrate = .kilobitsPerSecond(100)
    #expect(
      refusal { () throws(SessionError) in try seat.setParameters(parameters, of: sender) } == "NotSupportedError")
    #expect(
      refusal { () throws(SessionError) in try alice.connection.addTrack(track) } == "NotSupportedError")
  }

  @Test func `the server takes no redundancy, which ends at each connection`() throws {
    let room = try Room()
    var video = Self.video(.vp8)
    video.forwardErrorCorrection = .ulpfec
    let (alice, bob) = (try room.join("alice", video: video), try room.join("bob", video: video))
    try alice.publish()
    room.run(for: .seconds(1))
    let answer = try #require(alice.seat.localDescription).sdp
    #expect(!answer.contains("ulpfec") && !answer.contains("red/90000"))
    try bob.subscribe(to: alice)
    room.run(for: .seconds(2))
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") > 40)
  }

  // MARK: Simulcast

  /// Alice sends three encodings of 1280x720, and Bob gets what his link holds.
  private func simulcast(_ rate: DataRate?, _ media: MediaFidelity = .synthetic) throws -> (Room, Member, Member) {
    let room = try Room(media)
    var video = VideoSettings()
    (video.codecs, video.simulcast) = ([.vp8], 3)
    (video.width, video.height) = (1_280, 720)
    let (alice, bob) = (try room.join("alice", video: video), try room.join("bob", video: video))
    try alice.publish()
    if let rate { try room.simulator.setLink("bob", .rx) { $0.rate = rate } }
    // The sender's own estimate grows until all three encodings are sent.
    room.run(for: .seconds(5))
    // An offer of the server goes on with what it takes.
    try alice.negotiate(fromSeat: true)
    room.run(for: .seconds(5))
    try bob.subscribe(to: alice)
    return (room, alice, bob)
  }

  @Test(arguments: [MediaFidelity.synthetic, .real])
  func `of a simulcast a client with a fast link gets the largest encoding`(media: MediaFidelity) throws {
    let (room, alice, bob) = try simulcast(nil, media)
    let answer = try #require(alice.seat.localDescription).sdp
    #expect(answer.contains("a=simulcast:recv q;h;f"))
    #expect(alice.connection.statistics().entries.count { $0.type == "outbound-rtp" } == 4)
    room.run(for: .seconds(10))
    #expect(number(bob.connection, "inbound-rtp", .video, "frameWidth") == 1_280)
    #expect(number(bob.connection, "inbound-rtp", .video, "packetsLost") == 0)
    let seen = try #require(room.glassToGlass(to: bob, from: alice))
    #expect(seen < .milliseconds(200), "\(seen)")
  }

  @Test(arguments: [(300, 320), (1_000, 640)] as [(Int64, Int64)])
  func `a client on a narrow link gets the encoding that it holds`(kilobits: Int64, width: Int64) throws {
    let (room, alice, bob) = try simulcast(.kilobitsPerSecond(kilobits))
    room.run(for: .seconds(15))
    #expect(number(bob.connection, "inbound-rtp", .video, "frameWidth") == width)
    let before = number(bob.connection, "inbound-rtp", .video, "framesRendered")
    room.run(for: .seconds(5))
    #expect(number(bob.connection, "inbound-rtp", .video, "framesRendered") - before > 120)
    let seen = try #require(room.glassToGlass(to: bob, from: alice))
    #expect(seen < .milliseconds(600), "\(seen)")
  }

  @Test func `the encoding follows the link, down and up again, while another client keeps its own`() throws {
    let (room, alice, bob) = try simulcast(nil)
    var video = VideoSettings()
    video.codecs = [.vp8]
    let carol = try room.join("carol", video: video)
    try carol.publish(video: false)
    room.run(for: .seconds(1))
    try carol.subscribe(to: alice)
    room.run(for: .seconds(10))
    func width(_ member: Member) -> Int64 { number(member.connection, "inbound-rtp", .video, "frameWidth") }
    #expect(width(bob) == 1_280 && width(carol) == 1_280)
    try room.simulator.setLink("bob", .rx) { $0.rate = .kilobitsPerSecond(300) }
    room.run(for: .seconds(20))
    #expect(width(bob) == 320 && width(carol) == 1_280)
    try room.simulator.setLink("bob", .rx) { $0.rate = nil }
    room.run(for: .seconds(30))
    #expect(width(bob) == 1_280 && width(carol) == 1_280)
    // Alice's encoders know nothing of it.
    #expect(number(alice.connection, "outbound-rtp", .video, "nackCount") == 0)
  }

  @Test func `what the server sends is numbered for each receiver, whichever encoding it is`() throws {
    let (room, _, bob) = try simulcast(nil)
    room.run(for: .seconds(5))
    for kilobits: Int64 in [300, 4_000, 300] {
      try room.simulator.setLink("bob", .rx) { $0.rate = .kilobitsPerSecond(kilobits) }
      room.run(for: .seconds(8))
    }
    try room.simulator.setLink("bob", .rx) { $0.rate = nil }
    room.run(for: .seconds(2))
    #expect(bob.connection.statistics().entries.count { $0.type == "inbound-rtp" } == 2)
    let sent = number(bob.seat, "outbound-rtp", .video, "packetsSent")
    let received = number(bob.connection, "inbound-rtp", .video, "packetsReceived")
    let lost = number(bob.connection, "inbound-rtp", .video, "packetsLost")
    // Nothing is lost but what a full queue dropped: numbers have no other gaps.
    #expect(sent - received >= lost && received > 500, "\(sent) \(received) \(lost)")
  }
}
