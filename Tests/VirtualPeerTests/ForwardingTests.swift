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
}
