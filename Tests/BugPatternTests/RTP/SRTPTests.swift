import CallCore
import PeerSession
import RTP
import SDP
import SRTP
import StackWorlds
import Statistics
import Testing

/// Patterns 32 to 34: what SRTP must know of a stream before it can read it, and who may change what is known.
@Suite struct SRTPPatternTests {
  private func written(_ body: (inout OutputSpan<UInt8>) -> Void) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: maximumDatagramSize) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      body(&output)
      count = output.finalize(for: buffer)
    }
  }

  private func makeSender(seed: UInt64) -> RTPSender {
    RTPSender(
      ssrc: 5, settings: .init(payloadType: 111, clockRate: 48_000), random: RandomSource(seed: seed).stream("rtp"))
  }

  private func packet(of sender: inout RTPSender, _ index: Int) -> [UInt8] {
    let payload = [UInt8](repeating: 7, count: 40)
    return written {
      _ = sender.packetize(payload: payload.span.bytes, mediaTime: UInt32(index) * 960, into: &$0)
    }
  }

  @Test func `32 - a stream whose first packets are lost is read all the same`() throws {
    try proves(.firstSequenceAnywhere) { claims in
      let key = SRTPMasterKey(key: Array(0..<16), salt: Array(0..<14))
      // The sender that begins closest to the wrap; the first packet that arrives is beyond it.
      var closest = (seed: UInt64(0), number: 0)
      for seed in 1...1_000 as ClosedRange<UInt64> {
        var sender = makeSender(seed: seed)
        let first = packet(of: &sender, 0)
        let number = Int(first[2]) << 8 | Int(first[3])
        if number > closest.number { closest = (seed, number) }
      }
      var sender = makeSender(seed: closest.seed)
      var outbound = try SRTPContext(.sending, profile: .aes128CMHMACSHA1_80, key: key)
      var inbound = try SRTPContext(.receiving, profile: .aes128CMHMACSHA1_80, key: key)
      var read = 0
      for index in 0..<400 {
        let bytes = packet(of: &sender, index)
        _ = written {
          $0.append(contentsOf: bytes.span.bytes)
          guard (try? outbound.protectRTP(&$0)) != nil, index >= 200 else { return }
          if (try? inbound.unprotectRTP(&$0)) != nil { read += 1 }
        }
      }
      claims("every packet after the loss is read, not \(read)", read == 200)
    }
  }

  @Test func `32 - what was lost before the wrap is sent again after it`() throws {
    try proves(.oldNumberUnderNewRollover) { claims in
      let pair = SessionPair {
        $0.audio.nack = true
        $0.audio.initialSequenceNumber = 65_500
      }
      var lost: Set<[UInt8]> = []
      pair.drops = { datagram in
        guard datagram.fromA, datagram.isMedia, datagram.bytes[1] & 0x7F == 111 else { return false }
        let number = datagram.bytes[2...3]
        return [65_534, 65_535].map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }.contains(Array(number))
          && lost.insert(Array(number)).inserted
      }
      try pair.negotiate()
      pair.run(for: .seconds(3))
      claims("the last two before the wrap are lost", lost.count == 2)
      let sender = try #require(pair.a.session.statistics(at: pair.now).first("outbound-rtp"))
      claims("and sent again", sender["retransmittedPacketsSent"] == .integer(2))
      let receiver = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
      claims("and read", receiver["packetsLost"] == .integer(0))
    }
  }

  /// For two seconds of 20 ms packets, both ways.
  private func claimEveryPacketIsRead(of pair: SessionPair, _ claims: Claims) {
    let received = [pair.a.mediaReceived, pair.b.mediaReceived]
    pair.run(for: .seconds(2))
    claims("Alice hears Bob", pair.a.mediaReceived - received[0] == 100)
    claims("Bob hears Alice", pair.b.mediaReceived - received[1] == 100)
  }

  @Test func `33 - after a hold the numbers go on`() throws {
    try proves(.heldStreamStartsAfresh) { claims in
      let pair = SessionPair { $0.audio.initialSequenceNumber = 65_500 }
      try pair.negotiate()
      pair.run(for: .seconds(3))
      for direction in [MediaDirection.inactive, .sendrecv] {
        try pair.a.session.setDirection(direction, of: pair.a.microphone)
        try pair.negotiate()
        pair.run(for: .seconds(2))
      }
      claimEveryPacketIsRead(of: pair, claims)
    }
  }

  @Test func `33 - a change of path after the numbers have wrapped loses nothing`() throws {
    try proves(.rolloverForgottenOnPathChange) { claims in
      let pair = SessionPair { $0.audio.initialSequenceNumber = 65_500 }
      try pair.negotiate()
      pair.run(for: .seconds(3))
      let wrapped = pair.sent.contains { $0.isMedia && $0.bytes[1] & 0x7F == 111 && $0.bytes[2] == 0 }
      claims("the numbers wrapped", wrapped)
      pair.a.move(to: "198.51.100.9", at: pair.now)
      pair.drain(pair.a)
      try pair.restart(from: pair.a, to: pair.b)
      pair.run(for: .seconds(1))
      claimEveryPacketIsRead(of: pair, claims)
    }
  }

  @Test func `34 - forged and replayed packets move nothing`() throws {
    try proves(.receptionCountedBeforeAuthentication) { claims in
      let pair = SessionPair { $0.audio.nack = true }
      try pair.negotiate()
      pair.run(for: .seconds(2))
      let genuine = try #require(pair.sent.last { $0.fromA && $0.isMedia && $0.bytes[1] & 0x7F == 111 })
      for step in 1...20 {
        // Numbers from the future, and the same packet again.
        var forged = genuine.bytes
        let number = UInt16(forged[2]) << 8 | UInt16(forged[3])
        let ahead = number &+ UInt16(step) &* 40
        (forged[2], forged[3]) = (UInt8(truncatingIfNeeded: ahead >> 8), UInt8(truncatingIfNeeded: ahead))
        for bytes in [forged, genuine.bytes] {
          pair.b.session.receive(bytes.span.bytes, on: genuine.path.reversed, at: pair.now)
        }
        pair.drain(pair.b)
        pair.run(for: .milliseconds(100))
      }
      let inbound = try #require(pair.b.session.statistics(at: pair.now).first("inbound-rtp"))
      claims("nothing is missed", inbound["packetsLost"] == .integer(0))
      claims("nothing is asked for", inbound["nackCount"] == .integer(0))
      claims("nothing is invented", inbound["concealmentEvents"] == .integer(0))
    }
  }
}
