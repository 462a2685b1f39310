import CallCore
import DTLS
import PeerSession
import SDP
import SimNet
import Statistics
import Testing

@testable import VirtualPeer

/// What a server forwards by the bandwidth of each client.
extension ForwardingTests {
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

  // MARK: Temporal layers

  /// Alice sends three temporal layers of 640x360 at some 700 kbit/s, and Bob gets what his link holds.
  private func layers(
    _ codec: VideoSettings.Codec, _ rate: DataRate?, _ media: MediaFidelity = .synthetic
  ) throws -> (Room, Member, Member) {
    let room = try Room(media)
    var video = VideoSettings()
    (video.codecs, video.temporalLayers) = ([codec], 3)
    (video.width, video.height) = (640, 360)
    (video.startBitrate, video.maximumBitrate) = (.kilobitsPerSecond(700), .kilobitsPerSecond(700))
    let (alice, bob) = (try room.join("alice", video: video), try room.join("bob", video: video))
    try alice.publish()
    if let rate { try room.simulator.setLink("bob", .rx) { $0.rate = rate } }
    room.run(for: .seconds(3))
    try bob.subscribe(to: alice)
    return (room, alice, bob)
  }

  /// The pictures that a member sees in a second, over some seconds.
  private func frameRate(_ room: Room, _ member: Member, over seconds: Int64 = 5) -> Double {
    let before = number(member.connection, "inbound-rtp", .video, "framesRendered")
    room.run(for: .seconds(seconds))
    return Double(number(member.connection, "inbound-rtp", .video, "framesRendered") - before) / Double(seconds)
  }

  private static let layeredCodecs: [VideoSettings.Codec] = [.vp8, .vp9, .av1]

  @Test(arguments: layeredCodecs, [MediaFidelity.synthetic, .real])
  func `on a fast link all temporal layers come`(_ codec: VideoSettings.Codec, _ media: MediaFidelity) throws {
    let (room, _, bob) = try layers(codec, nil, media)
    room.run(for: .seconds(5))
    #expect(frameRate(room, bob) > 27)
    #expect(number(bob.connection, "inbound-rtp", .video, "packetsLost") == 0)
  }

  @Test(arguments: layeredCodecs, [MediaFidelity.synthetic, .real])
  func `on a narrow link the upper temporal layers stay away, and the picture moves on`(
    _ codec: VideoSettings.Codec, _ media: MediaFidelity
  ) throws {
    let (room, alice, bob) = try layers(codec, .kilobitsPerSecond(450), media)
    room.run(for: .seconds(10))
    let rate = frameRate(room, bob, over: 10)
    #expect((6.5...16).contains(rate), "\(rate)")
    let seen = try #require(room.glassToGlass(to: bob, from: alice))
    #expect(seen < .milliseconds(500), "\(seen)")
    // The numbers of what was left out are given to others: nobody asks for it.
    #expect(
      number(bob.connection, "inbound-rtp", .video, "nackCount")
        == number(bob.connection, "inbound-rtp", .video, "packetsLost"))
  }

  @Test(arguments: layeredCodecs) func `temporal layers come back with the bandwidth`(
    _ codec: VideoSettings.Codec
  ) throws {
    let (room, alice, bob) = try layers(codec, .kilobitsPerSecond(450))
    room.run(for: .seconds(10))
    try room.simulator.setLink("bob", .rx) { $0.rate = nil }
    room.run(for: .seconds(20))
    let keyFrames = number(alice.connection, "outbound-rtp", .video, "keyFramesEncoded")
    #expect(frameRate(room, bob) > 27)
    // They begin where the layers below suffice, without a key frame.
    #expect(number(bob.connection, "inbound-rtp", .video, "keyFramesDecoded") == 1)
    #expect(number(alice.connection, "outbound-rtp", .video, "keyFramesEncoded") == keyFrames)
  }

  @Test(arguments: layeredCodecs)
  func `what is lost on the way to the server does not stop a picture without upper layers`(
    _ codec: VideoSettings.Codec
  ) throws {
    let (room, alice, bob) = try layers(codec, .kilobitsPerSecond(450))
    room.run(for: .seconds(5))
    try room.simulator.setLink("alice", .tx) { $0.loss = .random(0.05) }
    room.run(for: .seconds(10))
    #expect(frameRate(room, bob, over: 10) > 5)
    let seen = try #require(room.glassToGlass(to: bob, from: alice))
    #expect(seen < .seconds(1), "\(seen)")
  }
}
