import CallCore
import CongestionControl
import RTP
import StackWorlds
import Testing

@testable import PeerSession
@testable import SDP

/// The level of the audio in packets (RFC 6464).
@Suite struct AudioLevelTests {
  private static let uri = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"

  /// A call whose offer was changed on its way.
  private func call(changing offer: (inout String) -> Void = { _ in }) throws -> SessionPair {
    let pair = SessionPair { $0.protection = .none }
    var description = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(description, at: pair.now)
    offer(&description.sdp)
    try pair.answer(description, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    return pair
  }

  private func levels(_ pair: SessionPair, fromA: Bool = true) -> [AudioLevelIndication] {
    pair.sent.filter { $0.fromA == fromA && $0.isRTP }.compactMap { datagram in
      let bytes = datagram.bytes.span.bytes
      guard let found = RTPPacket(parsing: bytes)?.audioLevel(id: 2, in: bytes) else { return nil }
      return AudioLevelIndication(level: found.level, hasVoice: found.voiceActivity)
    }
  }

  @Test func `every packet of sound has its level, and says that it is voice`() throws {
    let pair = try call()
    let levels = levels(pair)
    #expect(levels.count > 40 && levels.count == pair.sent.count { $0.fromA && $0.isRTP })
    #expect(levels.allSatisfy { $0.hasVoice == true && $0.level < 25 })
  }

  @Test func `a disabled track has the level of silence, without voice`() throws {
    let pair = try call()
    let start = pair.now
    pair.a.session.setAudioEnabled(false)
    pair.run(for: .seconds(1))
    let before = levels(pair).count
    #expect(
      start > .zero && levels(pair).suffix(40).allSatisfy { $0 == AudioLevelIndication(level: 127, hasVoice: false) })
    #expect(before > 80)
  }

  @Test func `without an offer of levels none are sent`() throws {
    let pair = try call { $0.replace("a=extmap:2 \(Self.uri)\r\n", with: "") }
    #expect(pair.sent.count { $0.fromA && $0.isRTP } > 40)
    #expect(levels(pair).isEmpty && levels(pair, fromA: false).isEmpty)
  }

  @Test func `an offer without the flag of voice activity is answered without it, and it is not set`() throws {
    let pair = try call { $0.replace(Self.uri, with: "\(Self.uri) vad=off") }
    let answer = try #require(pair.b.session.localDescription)
    #expect(answer.sdp.contains("a=extmap:2 \(Self.uri) vad=off\r\n"))
    let levels = levels(pair) + levels(pair, fromA: false)
    #expect(levels.count > 80 && levels.allSatisfy { $0.hasVoice == false && $0.level < 25 })
  }

  // MARK: Forwarding

  private func forwarded(_ level: AudioLevelIndication?, hasVoiceFlag: Bool = true) -> AudioLevelIndication? {
    let media = AudioStreamPair.media(AudioSettings(), preferring: .opus)
    let sender = Transceiver.Sender(trackID: "t", cname: "c", ssrc: 7)
    let stream = ForwardingSendStream(
      .audio, codec: media.sendCodecs[0], track: LocalTrack(number: 0, sender: sender, source: .microphone),
      random: RandomSource(seed: 3))
    var extensions = MediaExtensions([], sending: true)
    (extensions.audioLevel, extensions.hasVoiceFlag) = (5, hasVoiceFlag)
    stream.isActive = true
    stream.update(media, extensions: extensions, naming: nil)
    var packet = ForwardedPacket(
      transceiver: Transceiver.ID(number: 0), ssrc: 1, stream: 0, number: 0, timestamp: 0, marker: false,
      codec: media.sendCodecs[0], encoding: 0, layer: .base, rate: nil, isEntry: true, picture: nil, payload: [0])
    packet.audioLevel = level
    var pacer = Pacer(settings: Pacer.Settings(rate: .kilobitsPerSecond(750)))
    stream.send(packet, into: &pacer, at: .zero)
    let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1_500)
    defer { room.deallocate() }
    var output = OutputSpan<UInt8>(buffer: room, initializedCount: 0)
    guard pacer.next(into: &output, at: .zero) != nil, let sent = RTPPacket(parsing: output.span.bytes) else {
      Issue.record("nothing was sent")
      return nil
    }
    let found = sent.audioLevel(id: 5, in: output.span.bytes)
    _ = output.finalize(for: room)
    return found.map { AudioLevelIndication(level: $0.level, hasVoice: $0.voiceActivity) }
  }

  @Test func `a forwarded packet has the level that its sender gave`() {
    let level = AudioLevelIndication(level: 33, hasVoice: true)
    #expect(forwarded(level) == level)
    #expect(forwarded(level, hasVoiceFlag: false) == AudioLevelIndication(level: 33, hasVoice: false))
  }

  @Test func `a packet that came without a level is forwarded without one`() { #expect(forwarded(nil) == nil) }
}
