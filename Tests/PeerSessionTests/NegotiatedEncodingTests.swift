import CallCore
import Codecs
import RTP
import SDP
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

/// What is sent, where the far side has a say in it.
@Suite struct NegotiatedEncodingTests {
  /// A call in which `a` answers an offer with these lines in its audio section, and what `a` sent in its third second.
  private func answering(
    fmtp: String = "minptime=10;useinbandfec=1", lines: String = "", bandwidth: String = "",
    adjust: @escaping (inout SessionConfiguration) -> Void = { _ in }
  ) throws -> (pair: SessionPair, encoding: AudioEncoding, packets: [SessionPair.Sent]) {
    let pair = SessionPair(adjust: adjust)
    var offer = try pair.b.session.createOffer()
    try pair.b.session.setLocalDescription(offer, at: pair.now)
    offer.sdp = offer.sdp.split(separator: "\r\n").map { line in
      line.hasPrefix("a=fmtp:111 ")
        ? "a=fmtp:111 \(fmtp)\r\n\(lines)" : line.hasPrefix("c=") ? "\(line)\r\n\(bandwidth)" : "\(line)\r\n"
    }.joined()
    try pair.answer(offer, of: pair.b, by: pair.a)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(3))
    let found = pair.a.session.media.audioChannel?.send
    let stream = try #require(found)
    let packets = pair.sent.filter { $0.fromA && $0.isRTP && $0.time >= .zero + .seconds(2) }
    return (pair, stream.encoding, packets)
  }

  @Test(arguments: [10, 20, 40, 60, 80, 100, 120], [MediaFidelity.real, .synthetic])
  func `every packet duration is sent as it is set, and heard`(milliseconds: Int, media: MediaFidelity) throws {
    let pair = SessionPair {
      $0.media = media
      $0.audio.ptime = .milliseconds(Int64(milliseconds))
    }
    try pair.negotiate()
    pair.run(for: .seconds(2))
    let start = pair.now
    let heard = pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["concealedSamples"]
    pair.run(for: .seconds(6))
    let sent = pair.sent.count { $0.fromA && $0.isRTP && $0.time >= start }
    #expect(abs(sent - 6_000 / milliseconds) <= 2)
    #expect(pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["concealedSamples"] == heard)
    #expect(pair.b.loudest > AudioLevel(25))
  }

  @Test(
    arguments: [
      ("a=ptime:60\r\n", "minptime=10", .ms60), ("a=ptime:30\r\n", "minptime=10", .ms40),
      ("a=ptime:3\r\n", "minptime=3", .ms10), ("a=ptime:900\r\n", "", .ms120), ("", "minptime=40", .ms40),
      ("a=maxptime:10\r\n", "minptime=10", .ms10), ("a=maxptime:7\r\n", "", .ms5), ("a=maxptime:0\r\n", "", .ms2_5),
      ("a=ptime:100\r\na=maxptime:80\r\n", "minptime=3", .ms80),
    ] as [(String, String, PacketDuration)])
  func `packets are as long as the far side asks`(lines: String, fmtp: String, duration: PacketDuration) throws {
    let call = try answering(fmtp: fmtp.isEmpty ? "useinbandfec=1" : fmtp, lines: lines)
    #expect(call.encoding.packetDuration == duration)
    let wanted = 48_000 / duration.samplesPerChannel
    #expect(abs(call.packets.count - wanted) <= 2 + wanted / 50)
  }

  @Test(
    arguments: [
      ("b=TIAS:20000\r\n", "minptime=10", 20_000), ("b=AS:40\r\n", "minptime=10", 24_000),
      ("b=AS:1\r\n", "minptime=10", 6_000), ("b=AS:18446744073709551615\r\n", "minptime=10", 32_000),
      ("", "maxaveragebitrate=16000", 16_000), ("b=TIAS:12000\r\n", "maxaveragebitrate=16000", 12_000),
      ("b=RR:0\r\n", "minptime=10", 32_000),
    ] as [(String, String, Int64)])
  func `the bit rate is within what the far side takes, and told as it is`(
    bandwidth: String, fmtp: String, rate: Int64
  ) throws {
    let call = try answering(fmtp: fmtp, bandwidth: bandwidth)
    #expect(call.encoding.bitrate == .bitsPerSecond(rate))
    let bytes = call.packets.map { $0.bytes.count - 12 - 16 }.reduce(0, +) / call.packets.count
    #expect(abs(bytes - Int(rate) / 400) <= 12)
    let told = call.pair.a.session.statistics(at: call.pair.now).first("outbound-rtp")?["targetBitrate"]
    #expect(told == .real(Double(rate)))
  }

  @Test(
    arguments: [(8_000, .narrow), (12_000, .medium), (16_000, .wide), (24_000, .superWide), (48_000, .full)]
      as [(Int, OpusPacket.Bandwidth)])
  func `no more bandwidth is coded than the far side can play`(rate: Int, bandwidth: OpusPacket.Bandwidth) throws {
    let call = try answering(fmtp: "maxplaybackrate=\(rate)") { $0.media = .real }
    #expect(call.encoding.maximumBandwidth == bandwidth)
  }

  @Test(arguments: [MediaFidelity.real, .synthetic], [(true, true), (true, false), (false, true)])
  func `silence is left out toward who asks for it, and only when we are set to`(
    media: MediaFidelity, wish: (isSet: Bool, isAsked: Bool)
  ) throws {
    let (isSet, isAsked) = wish
    let call = try answering(fmtp: isAsked ? "usedtx=1" : "minptime=10") {
      $0.media = media
      $0.audio.dtx = isSet
      $0.audio.complexity = 5
    }
    call.pair.a.session.setAudioEnabled(false)
    call.pair.run(for: .seconds(2))
    let start = call.pair.now
    call.pair.run(for: .seconds(4))
    let sent = call.pair.sent.count { $0.fromA && $0.isRTP && $0.time >= start }
    // Ten marks in 4 s; libopus sends a packet of audio before each.
    #expect(isSet && isAsked ? (media == .real ? 18...22 : 9...11).contains(sent) : sent >= 199)
  }

  @Test func `a renegotiation changes the packets' duration, and their timestamps go on without a gap`() throws {
    for media in [MediaFidelity.real, .synthetic] {
      let pair = SessionPair { $0.media = media }
      try pair.negotiate()
      pair.run(for: .seconds(2))
      var offer = try pair.b.session.createOffer()
      try pair.b.session.setLocalDescription(offer, at: pair.now)
      offer.sdp.replace("a=rtcp-mux\r\n", with: "a=rtcp-mux\r\na=ptime:60\r\n")
      try pair.answer(offer, of: pair.b, by: pair.a)
      pair.run(for: .seconds(3))
      let times = pair.sent.filter { $0.fromA && $0.isRTP }.map {
        $0.bytes.span.bytes.bigEndian(UInt32.self, at: 4) ?? 0
      }
      let steps = zip(times, times.dropFirst()).map { $1 &- $0 }
      #expect(Set(steps) == [960, 2_880])
      #expect(steps.last == 2_880)
      #expect(pair.b.session.statistics(at: pair.now).first("inbound-rtp")?["concealedSamples"] == .integer(0))
    }
  }

  private static let spoils: [@Sendable (inout AudioSettings) -> Void] = [
    { $0.complexity = 11 }, { $0.complexity = -1 }, { $0.ptime = .milliseconds(30) }, { $0.ptime = .milliseconds(5) },
    { $0.bitrate = .bitsPerSecond(499) }, { $0.bitrate = .bitsPerSecond(512_001) }, { $0.expectedLossPercent = 101 },
  ]

  @Test(arguments: 0..<7) func `settings that no encoder takes are refused with the track`(index: Int) throws {
    var audio = AudioSettings()
    #expect(audio.problem == nil)
    Self.spoils[index](&audio)
    let problem = try #require(audio.problem)
    let pair = SessionPair()
    var configuration = pair.a.session.configuration
    configuration.audio = audio
    let session = CallSession(configuration: configuration, random: RandomSource(seed: 1), at: .zero)
    #expect(throws: SessionError.notSupported(problem)) { try session.addTrack() }
    #expect(throws: SessionError.notSupported(problem)) { try session.addTransceiver(.microphone) }
    _ = try session.addTransceiver(.audio, TransceiverInit(direction: .recvonly))
  }

  @Test func `the loss to expect follows reports slowly, and no further than a fifth`() {
    var loss = ExpectedLoss()
    #expect(loss.add(0.1, at: .zero) == 10)
    // A time constant of 10 s: 5 s later the old report still weighs 0.61.
    #expect(loss.add(0, at: .zero + .seconds(5)) == 6)
    #expect(loss.add(0, at: .zero + .seconds(10)) == 4)
    var high = ExpectedLoss()
    #expect(high.add(0.9, at: .zero) == 20)
  }

  @Test func `the encoder is told of loss by the average of reports`() throws {
    let pair = SessionPair { $0.media = .real }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    var count = 0
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isRTP else { return false }
      count += 1
      return count % 5 == 0
    }
    pair.run(for: .seconds(20))
    pair.drops = { _ in false }
    pair.run(for: .seconds(9))
    let found = pair.a.session.media.audioChannel?.send
    let stream = try #require(found)
    let last = stream.rtp.remoteInbound.fractionLost
    #expect(last < 0.02)
    let expected = try #require(stream.expectedPacketLoss)
    #expect((3...15).contains(expected))
  }
}

extension SessionPair.Sent {
  /// Media, and no RTCP.
  var isRTP: Bool { isMedia && !(192...223).contains(bytes[1]) }
}

extension MediaTransport {
  /// The first channel of audio.
  var audioChannel: AudioChannel? {
    for case .audio(let channel) in channels { return channel }
    return nil
  }
}
