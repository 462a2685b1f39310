import CallCore
import Codecs
import DTLS
import SDP
import StackWorlds
import Statistics
import Testing

@testable import PeerSession

@Suite struct MediaTests {
  @Test func `a tone through real Opus is heard at the other side, and not while muted`() throws {
    let pair = SessionPair { $0.media = .real }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    for side in [pair.a, pair.b] { #expect(side.loudest > AudioLevel(25)) }
    pair.a.session.setAudioEnabled(false)
    pair.run(for: .milliseconds(500))
    pair.b.loudest = .silence
    let before = pair.b.mediaReceived
    pair.run(for: .milliseconds(500))
    #expect(pair.b.loudest < AudioLevel(60))
    #expect(pair.b.mediaReceived - before >= 24)
  }

  @Test(arguments: [0, 499, 4_294_967_295]) func `an absurd bitrate that the far side asks for ends nothing`(
    bitrate: Int
  ) throws {
    let pair = SessionPair { $0.media = .real }
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    offer.sdp.replace("useinbandfec=1", with: "useinbandfec=1;maxaveragebitrate=\(bitrate)")
    try pair.answer(offer, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaSent > 40 && pair.a.loudest > .silence)
  }

  @Test func `what a renegotiation asks of the encoder holds from then on`() throws {
    let pair = SessionPair { $0.media = .real }
    try pair.negotiate()
    pair.run(for: .seconds(3))
    let size = { (from: Instant) in
      let packets = pair.sent.filter { !$0.fromA && $0.isMedia && $0.time >= from }
      return packets.map(\.bytes.count).reduce(0, +) / max(1, packets.count)
    }
    let before = size(.zero + .seconds(1))
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    offer.sdp.replace("useinbandfec=1", with: "useinbandfec=1;maxaveragebitrate=6000")
    try pair.answer(offer, of: pair.a, by: pair.b)
    pair.run(for: .seconds(3))
    #expect(size(pair.now - .seconds(2)) < before * 2 / 3)
  }

  @Test func `media ends with an association that failed`() throws {
    let pair = try connected()
    pair.a.session.handle(DTLSTransport.Event.stateChanged(.failed))
    let (sent, received) = (pair.a.mediaSent, pair.a.mediaReceived)
    pair.run(for: .seconds(1))
    #expect(pair.a.mediaSent == sent && pair.a.mediaReceived == received)
    #expect(pair.a.discarded == ["media-before-keys"])
  }

  @Test func `with discontinuous transmission silence costs a packet in 400 ms`() throws {
    let pair = SessionPair { $0.audio.dtx = true }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    pair.a.session.setAudioEnabled(false)
    pair.run(for: .seconds(1))
    let before = pair.b.mediaReceived
    pair.run(for: .seconds(4))
    #expect((9...11).contains(pair.b.mediaReceived - before))
  }

  /// The offer of `a` with another direction, answered by `b`.
  private func renegotiate(_ pair: SessionPair, _ direction: String) throws {
    let offer = try pair.b.session.createOffer()
    let changed = offer.sdp.replacing("a=sendrecv", with: "a=\(direction)")
    try pair.a.session.setRemoteDescription(SessionDescriptionText(.offer, sdp: changed), at: pair.now)
    try pair.a.session.setLocalDescription(try pair.a.session.createAnswer(), at: pair.now)
    pair.drain(pair.a)
  }

  @Test(arguments: [MediaFidelity.real, .synthetic])
  func `packets of the highest bitrate and the longest duration still fit the path`(media: MediaFidelity) throws {
    let pair = SessionPair {
      $0.media = media
      $0.audio.bitrate = .kilobitsPerSecond(510)
      $0.audio.ptime = .milliseconds(120)
    }
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(pair.b.loudest > .silence)
    let largest = pair.sent.map(\.bytes.count).max() ?? 0
    #expect((1_300...1_404).contains(largest))
  }

  @Test func `a hold stops media, and afterwards the stream goes on with its own numbers`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    func number() throws -> (sequence: UInt16, ssrc: UInt32) {
      let packet = try #require(pair.sent.last { $0.fromA && $0.isMedia && !(192...223).contains($0.bytes[1]) })
      let bytes = packet.bytes.span.bytes
      return (bytes.bigEndian(UInt16.self, at: 2) ?? 0, bytes.bigEndian(UInt32.self, at: 8) ?? 0)
    }
    let before = try number()
    try renegotiate(pair, "inactive")
    let held = pair.b.mediaReceived
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaReceived - held <= 3)
    try renegotiate(pair, "sendrecv")
    pair.run(for: .seconds(1))
    let after = try number()
    #expect(after.ssrc == before.ssrc)
    #expect((40...60).contains(after.sequence &- before.sequence))
    #expect(pair.b.mediaReceived - held >= 40)
  }

  @Test func `after a hold the far side is heard at once, also when its last packet before was lost`() throws {
    let pair = SessionPair { $0.media = .real }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    pair.drops = { $0.fromA && $0.isMedia }
    pair.run(for: .milliseconds(60))
    pair.drops = { _ in false }
    for (direction, duration) in [(MediaDirection.inactive, Interval.seconds(5)), (.sendrecv, .milliseconds(300))] {
      try pair.b.session.setDirection(direction, of: pair.b.microphone)
      try pair.negotiate(from: pair.b, to: pair.a)
      pair.run(for: duration)
    }
    pair.b.loudest = .silence
    pair.run(for: .milliseconds(300))
    #expect(pair.b.loudest > .silence)
  }

  @Test func `close_notify ends media without a closing of one's own`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .milliseconds(100))
    #expect(pair.b.session.dtlsState == .closed)
    let sent = pair.b.mediaSent
    pair.run(for: .seconds(2))
    #expect(pair.b.mediaSent == sent)
    #expect(pair.hotWakes == 0)
  }

  @Test func `media before keys is dropped and counted`() {
    let pair = SessionPair()
    let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1] + Array(repeating: 0, count: 40)
    let path = Path(local: pair.b.interface.socket, remote: pair.a.interface.socket)
    pair.b.session.receive(packet.span.bytes, on: path, at: pair.now)
    pair.drain(pair.b)
    let discarded = pair.b.observations.compactMap {
      if case .packetDiscarded(let what, _) = $0 { "\(what)" } else { nil }
    }
    #expect(discarded == ["media-before-keys"])
    #expect(pair.b.mediaReceived == 0)
  }

  @Test func `transport statistics of both sides agree when nothing is lost`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(3))
    pair.run(for: .milliseconds(100), talking: false)
    let sent = try #require(pair.a.session.statistics(at: pair.now).first("transport"))
    let received = try #require(pair.b.session.statistics(at: pair.now).first("transport"))
    #expect(sent["bytesSent"] == received["bytesReceived"])
    #expect(sent["packetsSent"] == received["packetsReceived"])
  }

  @Test func `candidates keep their statistics identifiers across a handoff`() throws {
    let pair = SessionPair { $0.restartSockets = .same }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    func ids(_ side: SessionPair.Side, _ type: String) -> [String] {
      side.session.statistics(at: pair.now).entries.filter { $0.type == type }.map(\.id)
    }
    let (local, remote) = (ids(pair.b, "local-candidate"), ids(pair.a, "remote-candidate"))
    pair.a.move(to: "192.0.2.7", at: pair.now)
    pair.drain(pair.a)
    try pair.restart(from: pair.a, to: pair.b)
    pair.run(for: .seconds(2))
    // Who stayed has its address under the old name on both sides, and who moved has another.
    #expect(ids(pair.b, "local-candidate") == local && ids(pair.a, "remote-candidate") == remote)
    #expect(ids(pair.b, "remote-candidate").contains("Rhost/192.0.2.7:5000"))
    let report = pair.b.session.statistics(at: pair.now)
    #expect(Set(report.entries.map(\.id)).count == report.entries.count)
    let selected = try #require(report.first("transport")?["selectedCandidatePairId"])
    let candidate = try #require(report.entries.first { .text($0.id) == selected })
    #expect(candidate["localCandidateId"] == .text(local[0]))
    #expect(candidate["remoteCandidateId"] == .text("Rhost/192.0.2.7:5000"))
    #expect(report.first("codec")?["mimeType"] == .text("audio/opus"))
  }

  @Test func `loss is counted as it happened`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    var (count, lost) = (0, 0)
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isMedia, !(192...223).contains(datagram.bytes[1]) else { return false }
      count += 1
      if count % 10 == 0 { lost += 1 }
      return count % 10 == 0
    }
    pair.run(for: .seconds(4))
    pair.drops = { _ in false }
    pair.run(for: .milliseconds(500))
    let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
    #expect(lost > 15)
    #expect(inbound["packetsLost"] == .integer(Int64(lost)))
  }
}
