import SRTP
import Testing

@Suite struct SourceLimitTests {
  @Test(arguments: everyProfile)
  func `ten thousand sources of one peer leave the latest, and the one that is heard all the while`(
    profile: SRTPProfile
  ) throws {
    let link = try Link(profile)
    for number in 0..<10_000 as Range<UInt32> {
      #expect(
        link.unprotect(try link.protect(Packets.rtp(1, source: number))) == .success(Packets.rtp(1, source: number)))
      // Another source that goes on, past a wrap of its numbers.
      let sequence = UInt16(truncatingIfNeeded: 30_000 + number * 8)
      let steady = try link.protect(Packets.rtp(sequence))
      #expect(link.unprotect(steady) == .success(Packets.rtp(sequence)))
      try link.sender.remove(source: number)
    }
    let (count, forgotten, latest) = (link.receiver.sourceCount, link.rollover(100), link.rollover(9_999))
    #expect(count == SRTPContext.sourceLimit && forgotten == nil && latest == 0)
    #expect(link.rollover() == 1)
  }

  @Test func `sources of RTCP are limited too`() throws {
    let link = try Link(.aeadAES128GCM)
    for number in 0..<200 as Range<UInt32> {
      let report = try link.sender.apply(.protectRTCP, Packets.rtcp(source: number)).get()
      let opened = link.receiver.apply(.unprotectRTCP, report)
      #expect(opened == .success(Packets.rtcp(source: number)))
    }
    let count = link.receiver.sourceCount
    #expect(count == SRTPContext.sourceLimit)
  }

  @Test func `packets that fail authentication take nobody's place`() throws {
    let link = try Link(.aeadAES128GCM)
    #expect(link.unprotect(try link.protect(Packets.rtp(1))) == .success(Packets.rtp(1)))
    for number in 0..<200 as Range<UInt32> {
      var forged = try link.protect(Packets.rtp(1, source: number))
      forged[forged.count - 1] ^= 1
      #expect(link.unprotect(forged) == .failure(.authenticationFailed))
    }
    let count = link.receiver.sourceCount
    #expect(count == 1 && link.rollover() == 0)
  }
}
