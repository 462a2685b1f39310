import CallCore
import Testing

@testable import SDP

/// Two sides that do anything allowed in any order, and must agree whenever a round is complete.
struct RandomWalkTests {
  @Test(arguments: 0..<16)
  func `whatever two sides do, a completed round leaves them agreed`(_ seed: Int) throws {
    var random = RandomSource(seed: UInt64(seed)).stream("walk")
    var a = Side("A")
    var b = Side("B")
    try a.add(.audio, "first")
    for step in 0..<8 {
      try a.act(step, &random)
      try b.act(step, &random)
      let aOffers = random.chance(0.5)
      if random.chance(0.2) { try undoneRound(&a, &b, &random) }
      if aOffers { try round(&a, &b) } else { try round(&b, &a) }
      // What the answerer wanted and the offer had no section for comes with its own offer.
      for _ in 0..<2 {
        let (first, second) = (a.session.negotiationNeeded, b.session.negotiationNeeded)
        if first { try round(&a, &b) }
        if second, b.session.negotiationNeeded { try round(&b, &a) }
      }
      try expectAgreement(a, b)
    }
  }

  private func round(_ offerer: inout Side, _ answerer: inout Side) throws {
    guard offerer.session.currentLocalDescription != nil || !offerer.session.transceivers.isEmpty else { return }
    try negotiate(&offerer, &answerer)
  }

  /// An offer that is taken back on one side or on both.
  private func undoneRound(_ a: inout Side, _ b: inout Side, _ random: inout RandomStream) throws {
    guard !a.session.transceivers.isEmpty else { return }
    let offer = try a.offer()
    if random.chance(0.5) {
      let before = b.session.transceivers.filter { $0.stable.mLineIndex != nil }
      try b.session.setRemoteDescription(.offer, offer)
      try b.session.rollback()
      let after = b.session.transceivers.filter { $0.stable.mLineIndex != nil }
      #expect(before == after)
    }
    try a.session.rollback()
  }

  private func expectAgreement(_ a: borrowing Side, _ b: borrowing Side) throws {
    let (ours, theirs) = (a.session.media, b.session.media)
    let needed = (a.session.negotiationNeeded, b.session.negotiationNeeded)
    let sections = (a.session.currentLocalDescription?.media ?? [], b.session.currentLocalDescription?.media ?? [])
    let setups = (a.session.transport?.setup, b.session.transport?.setup)
    #expect(needed == (false, false))
    #expect(ours.map(\.mid) == theirs.map(\.mid))
    #expect(ours.map(\.direction) == theirs.map(\.direction.reversed))
    #expect(ours.map { $0.sendCodecs.map(\.payloadType) } == theirs.map { $0.receiveCodecs.map(\.payloadType) })
    #expect(Set(ours.map(\.mid)).count == ours.count)
    #expect(sections.0.map(\.mid) == sections.1.map(\.mid))
    #expect(setups.0 == nil ? setups.1 == nil : setups.0 != setups.1)
  }
}

extension Side {
  /// Something an application may do at any time.
  mutating func act(_ step: Int, _ random: inout RandomStream) throws {
    let live = session.transceivers.filter { !$0.isStopping }
    let chosen = live.isEmpty ? nil : live[Int(random.uniform(below: UInt64(live.count)))].id
    switch (random.uniform(below: 6), chosen) {
    case (0, _): try add(.audio, "audio\(step)")
    case (1, _): try add(.video, "video\(step)")
    case (2, let id?): try session.stop(id)
    case (3, let id?): try session.removeTrack(id)
    case (4, let id?):
      let all = MediaDirection.allCases
      try session.setDirection(all[Int(random.uniform(below: UInt64(all.count)))], of: id)
    case (5, _): try session.addTransceiver(.video, direction: .recvonly)
    default: break
    }
  }
}
