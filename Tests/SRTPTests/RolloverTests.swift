import SRTP
import Testing

struct RolloverTests {
  @Test(arguments: everyProfile)
  func `any loss around the wrap leaves the rest readable`(profile: SRTPProfile) throws {
    let sequences = (0..<8).map { UInt16(truncatingIfNeeded: 65_532 + $0) }
    for pattern in 0..<256 {
      let link = try Link(profile)
      for (position, sequence) in sequences.enumerated() {
        let sealed = try link.protect(Packets.rtp(sequence))
        guard pattern >> position & 1 == 0 else { continue }
        let heardBeforeWrap = pattern & 0b1111 != 0b1111
        // RFC 3711 section 3.3.1: who hears nothing before the wrap cannot know that there was one.
        #expect(
          link.unprotect(sealed)
            == (heardBeforeWrap ? .success(Packets.rtp(sequence)) : .failure(.authenticationFailed)))
      }
    }
  }

  @Test func `packets reordered across the wrap are all read`() throws {
    let link = try Link(.aeadAES128GCM)
    let order = [65_533, 0, 65_535, 2, 65_534, 1]
    var sealed: [Int: [UInt8]] = [:]
    for sequence in [65_533, 65_534, 65_535, 0, 1, 2] {
      sealed[sequence] = try link.protect(Packets.rtp(UInt16(sequence)))
    }
    for sequence in order {
      #expect(link.unprotect(try #require(sealed[sequence])) == .success(Packets.rtp(UInt16(sequence))))
    }
    #expect(link.rollover() == 1)
  }

  @Test func `a source that starts in the lower half survives losing its first packets`() throws {
    let link = try Link(.aes128CMHMACSHA1_80)
    for sequence in 0x7FFE...0x9000 as ClosedRange<UInt16> {
      let sealed = try link.protect(Packets.rtp(sequence))
      if sequence >= 0x8FF0 { #expect(link.unprotect(sealed) == .success(Packets.rtp(sequence))) }
    }
  }

  @Test func `a retransmission from before the wrap is read after it`() throws {
    let link = try Link(.aes128CMHMACSHA1_80)
    var lost: [UInt8] = []
    for step in 0..<200 {
      let sequence = UInt16(truncatingIfNeeded: 65_500 + step)
      let sealed = try link.protect(Packets.rtp(sequence))
      if sequence == 65_530 { lost = sealed } else { _ = link.unprotect(sealed) }
    }
    let again = try link.protect(Packets.rtp(65_530))
    #expect(again == lost, "the sender must use the old rollover counter")
    #expect(link.unprotect(again) == .success(Packets.rtp(65_530)))
    #expect(link.rollover() == 1)
  }

  @Test func `each source counts its own wraps`() throws {
    let link = try Link(.aeadAES128GCM)
    for step in 0..<40 {
      let video = Packets.rtp(UInt16(truncatingIfNeeded: 65_520 + step), source: 2)
      let audio = Packets.rtp(UInt16(100 + step), source: 1)
      #expect(link.unprotect(try link.protect(video)) == .success(video))
      #expect(link.unprotect(try link.protect(audio)) == .success(audio))
    }
    #expect(link.rollover(1) == 0)
    #expect(link.rollover(2) == 1)
    #expect(link.rollover(3) == nil)
  }

  @Test(arguments: everyProfile)
  func `forged packets move neither rollover nor window`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    #expect(link.unprotect(try link.protect(Packets.rtp(65_000))) == .success(Packets.rtp(65_000)))
    for sequence in stride(from: 0, to: 65_536, by: 97) {
      let forged = Packets.rtp(UInt16(sequence)) + [UInt8](repeating: 0, count: profile.rtpOverhead)
      let result = link.unprotect(forged)
      #expect(throws: SRTPError.self, "\(sequence)") { try result.get() }
    }
    let stranger = Packets.rtp(1, source: 0xBAD) + [UInt8](repeating: 0, count: profile.rtpOverhead)
    #expect(link.unprotect(stranger) == .failure(.authenticationFailed))
    #expect(link.rollover(0xBAD) == nil, "a forged packet makes no source")
    #expect(link.rollover() == 0)
    #expect(link.unprotect(try link.protect(Packets.rtp(65_001))) == .success(Packets.rtp(65_001)))
  }

  @Test func `a removed source starts afresh`() throws {
    let link = try Link(.aeadAES128GCM)
    let sealed = try link.protect(Packets.rtp(7))
    #expect(link.unprotect(sealed) == .success(Packets.rtp(7)))
    try link.receiver.remove(source: 0xCAFE_BABE)
    #expect(link.rollover() == nil)
    #expect(link.unprotect(sealed) == .success(Packets.rtp(7)))
    let unknown = { try link.receiver.remove(source: 99) }
    #expect(throws: SRTPError.self) { try unknown() }
  }
}
