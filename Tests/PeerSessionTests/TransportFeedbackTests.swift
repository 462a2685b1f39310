import CallCore
import CongestionControl
import RTP
import SDP
import StackWorlds
import Testing

@testable import PeerSession

/// Transport-wide numbers and the feedback about them, in a call of audio.
@Suite struct TransportFeedbackTests {
  private static let uri = "draft-holmer-rmcat-transport-wide-cc-extensions-01"

  private func call(
    _ protection: MediaProtection = .none, fedBack: Bool = true, nack: Bool = false
  ) throws -> SessionPair {
    let pair = SessionPair {
      $0.protection = protection
      $0.audio.transportFeedback = fedBack
      $0.audio.nack = nack
    }
    try pair.negotiate()
    pair.run(for: .seconds(1))
    return pair
  }

  private func numbers(_ pair: SessionPair, since: Instant = .zero) -> [UInt16] {
    pair.sent.filter { $0.fromA && $0.isRTP && $0.time >= since }.compactMap { datagram in
      RTPPacket(parsing: datagram.bytes.span.bytes)?.transportSequenceNumber(id: 2, in: datagram.bytes.span.bytes)
    }
  }

  private func feedback(_ pair: SessionPair) -> [(at: Instant, feedback: TransportFeedback)] {
    pair.sent.filter { !$0.fromA && $0.isMedia && !$0.isRTP }.flatMap { datagram in
      var reader = RTCPReader()
      var found: [(at: Instant, feedback: TransportFeedback)] = []
      while let packet = reader.next(in: datagram.bytes.span.bytes) {
        if case .transportFeedback(let feedback) = packet { found.append((datagram.time, feedback)) }
      }
      return found
    }
  }

  @Test func `packets are numbered as they leave, and every 100 ms the far side says which have come`() throws {
    let pair = try call()
    #expect(try pair.a.session.createOffer().sdp.contains(Self.uri))
    pair.run(for: .seconds(4))
    let numbers = numbers(pair)
    #expect(numbers == Array(1...UInt16(numbers.count)) && numbers.count > 200)
    let feedback = feedback(pair)
    #expect((44...50).contains(feedback.count))
    let told = feedback.flatMap { entry in entry.feedback.arrivals.map { entry.feedback.firstNumber &+ $0.index } }
    #expect(told == Array(1...UInt16(told.count)) && numbers.count - told.count < 10)
    #expect(zip(feedback.dropFirst(), feedback).allSatisfy { $0.at - $1.at >= .milliseconds(100) })
    let inFlight = pair.a.session.media.sequencer.bytesInFlight
    #expect(inFlight < 1_000 && pair.hotWakes == 0)
  }

  @Test func `the sender learns what was lost, and how long the others took`() throws {
    let pair = try call(.dtlsSRTP)
    var count = 0
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isRTP else { return false }
      count += 1
      return count == 52
    }
    var (lost, taken): (Int, [Interval]) = (0, [])
    var last: [TransportSequencer.Result] = []
    for _ in 0..<200 {
      pair.run(for: .milliseconds(10))
      let results = pair.a.session.media.feedbackResults
      guard results != last else { continue }
      last = results
      lost += results.count { $0.arrived == nil }
      let known = results.compactMap { result in result.arrived.map { (result.sent, $0) } }
      taken += zip(known.dropFirst(), known).map { ($0.1 - $1.1) - ($0.0 - $1.0) }
    }
    #expect(lost == 1)
    #expect(taken.count > 60 && taken.allSatisfy { abs($0.nanoseconds) <= 250_000 })
  }

  @Test func `without the setting, or a peer that agrees, nothing is numbered or fed back`() throws {
    let plain = try call(fedBack: false)
    #expect(try !plain.a.session.createOffer().sdp.contains(Self.uri))
    #expect(numbers(plain).isEmpty && feedback(plain).isEmpty)
    let pair = SessionPair {
      $0.protection = .none
      $0.audio.transportFeedback = true
    }
    var offer = try pair.a.session.createOffer()
    try pair.a.session.setLocalDescription(offer, at: pair.now)
    offer.sdp.replace("a=rtcp-fb:111 transport-cc\r\n", with: "")
    try pair.answer(offer, of: pair.a, by: pair.b)
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    #expect(pair.b.mediaReceived > 30 && numbers(pair).isEmpty && feedback(pair).isEmpty)
  }

  @Test func `a packet that leaves again on its own stream leaves as it was, number and all`() throws {
    let pair = try call(nack: true)
    var count = 0
    pair.drops = { datagram in
      guard datagram.fromA, datagram.isRTP else { return false }
      count += 1
      return count == 10
    }
    let start = pair.now
    pair.run(for: .seconds(1))
    let sent = pair.sent.filter { $0.fromA && $0.isRTP && $0.time >= start }.map(\.bytes)
    let repeated = Set(sent.filter { bytes in sent.count { $0 == bytes } == 2 })
    #expect(repeated.count == 1 && Set(sent).count == sent.count - 1)
  }

  @Test func `a path that is gone for a while leaves neither a burst nor a timer that runs hot`() throws {
    let pair = try call()
    pair.a.session.setInterfaces([], at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    #expect(pair.hotWakes == 0)
  }
}
