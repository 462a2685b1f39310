import SRTP
import Testing

let everyProfile: [SRTPProfile] = [.aes128CMHMACSHA1_80, .aeadAES128GCM, .aeadAES256GCM]

struct SRTPContextTests {
  @Test(arguments: everyProfile)
  func `what goes in comes out`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    for length in [0, 1, 15, 16, 160, 1_200] {
      let plain = Packets.rtp(UInt16(length), payload: length)
      let sealed = try link.protect(plain)
      #expect(sealed.count == plain.count + profile.rtpOverhead)
      #expect(length < 15 || sealed[12..<(12 + length)] != plain[12...])
      #expect(link.unprotect(sealed) == .success(plain))
    }
    let report = Packets.rtcp()
    let sealed = try link.sender.apply(.protectRTCP, report).get()
    #expect(sealed.count == report.count + profile.rtcpOverhead)
    let opened = link.receiver.apply(.unprotectRTCP, sealed)
    #expect(opened == .success(report))
  }

  /// Contributing sources and a header extension stay in clear (RFC 3711 section 3.1).
  @Test(arguments: everyProfile)
  func `all of a long header is authenticated and not encrypted`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    var plain = Packets.rtp(7, payload: 0)
    plain[0] = 0x80 | 0x10 | 2
    plain += [0, 0, 0, 1, 0, 0, 0, 2] + [0xBE, 0xDE, 0, 2, 0x32, 1, 2, 3, 0, 0, 0, 0]
    let header = plain.count
    plain += [UInt8](repeating: 0x5A, count: 40)
    let sealed = try link.protect(plain)
    #expect(sealed[..<header] == plain[..<header])
    #expect(sealed[header..<plain.count] != plain[header...])
    #expect(
      sealed
        == ReferenceCipher.protectRTP(
          plain, header: header, profile: profile, master: Packets.master(profile), rollover: 0))
    for index in 12..<header {
      var forged = sealed
      forged[index] ^= 0x40
      // A changed length of the extension is more than there is.
      let result = link.unprotect(forged)
      #expect(result == .failure(.authenticationFailed) || result == .failure(.malformed), "\(index)")
    }
    #expect(link.unprotect(sealed) == .success(plain))
  }

  @Test(arguments: everyProfile)
  func `any changed bit is noticed`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    let sealed = try link.protect(Packets.rtp(5))
    for bit in 0..<sealed.count * 8 {
      var forged = sealed
      forged[bit / 8] ^= 1 << (bit % 8)
      // A changed first byte may be another version, or ask for more bytes than there are.
      let result = link.unprotect(forged)
      #expect(result == .failure(.authenticationFailed) || (bit < 8 && result == .failure(.malformed)), "\(bit)")
    }
    #expect(link.unprotect(sealed) == .success(Packets.rtp(5)))
    let report = try link.sender.apply(.protectRTCP, Packets.rtcp()).get()
    for bit in 0..<report.count * 8 {
      var forged = report
      forged[bit / 8] ^= 1 << (bit % 8)
      let result = link.receiver.apply(.unprotectRTCP, forged)
      #expect(result == .failure(.authenticationFailed) || (bit < 8 && result == .failure(.malformed)), "\(bit)")
    }
    let opened = link.receiver.apply(.unprotectRTCP, report)
    #expect(opened == .success(Packets.rtcp()))
  }

  @Test(arguments: everyProfile)
  func `a packet is let through once`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    let sealed = try (0..<1_100).map { try link.protect(Packets.rtp(UInt16($0))) }
    #expect(link.unprotect(sealed[0]) == .success(Packets.rtp(0)))
    #expect(link.unprotect(sealed[0]) == .failure(.replayed))
    #expect(link.unprotect(sealed[1_023]) == .success(Packets.rtp(1_023)))
    #expect(link.unprotect(sealed[1]) == .success(Packets.rtp(1)), "late, but inside the window")
    #expect(link.unprotect(sealed[1_099]) == .success(Packets.rtp(1_099)))
    #expect(link.unprotect(sealed[2]) == .failure(.tooOld))
    let report = try link.sender.apply(.protectRTCP, Packets.rtcp()).get()
    let (first, second) = (
      link.receiver.apply(.unprotectRTCP, report), link.receiver.apply(.unprotectRTCP, report)
    )
    #expect(first == .success(Packets.rtcp()))
    #expect(second == .failure(.replayed))
  }

  @Test func `a packet sent again is the same packet`() throws {
    let link = try Link(.aeadAES128GCM)
    let first = try link.protect(Packets.rtp(8))
    _ = try link.protect(Packets.rtp(9))
    #expect(try link.protect(Packets.rtp(8)) == first)
  }

  @Test(arguments: everyProfile)
  func `too little room is reported and changes nothing`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    let (rtp, rtcp) = (
      link.sender.apply(.protectRTP, Packets.rtp(1), room: profile.rtpOverhead - 1),
      link.sender.apply(.protectRTCP, Packets.rtcp(), room: profile.rtcpOverhead - 1)
    )
    #expect(rtp == .failure(.noRoom))
    #expect(rtcp == .failure(.noRoom))
    #expect(link.sender.sourceCount == 0)
    let report = try link.sender.apply(.protectRTCP, Packets.rtcp(), room: profile.rtcpOverhead).get()
    let first = ReferenceCipher.protectRTCP(
      Packets.rtcp(), profile: profile, master: Packets.master(profile), index: 1)
    #expect(report == first, "no index was used up")
    let exact = link.sender.apply(.protectRTP, Packets.rtp(2), room: profile.rtpOverhead)
    #expect(throws: Never.self) { try exact.get() }
  }

  @Test(arguments: everyProfile)
  func `cut and senseless packets are malformed, not trapped`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    let sealed = try link.protect(Packets.rtp(5, payload: 0))
    for count in 0..<sealed.count {
      #expect(link.unprotect(Array(sealed[..<count])) == .failure(.malformed))
    }
    for bytes in [[0x9F], [0xBF] + [UInt8](repeating: 0xFF, count: 90), [0x40] + [UInt8](repeating: 0, count: 90)] {
      for operation in [Operation.protectRTP, .unprotectRTP] {
        let result = link.receiver.apply(operation, bytes)
        #expect(result == .failure(.malformed))
      }
    }
    for count in 0..<(8 + profile.rtcpOverhead) {
      let result = link.receiver.apply(.unprotectRTCP, Array(Packets.rtcp().prefix(count)) + [])
      #expect(result == .failure(.malformed))
    }
  }

  @Test(arguments: everyProfile)
  func `RTCP that is authentic and not encrypted is refused`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    let clear = ReferenceCipher.protectRTCP(
      Packets.rtcp(), profile: profile, master: Packets.master(profile), index: 1, isEncrypted: false)
    let opened = link.receiver.apply(.unprotectRTCP, clear)
    #expect(opened == .failure(.unencrypted))
    #expect(link.receiver.sourceCount == 0)
  }

  @Test func `key lengths must fit the profile`() {
    let short = SRTPMasterKey(key: [1, 2, 3], salt: [4])
    #expect(throws: SRTPError.invalidKey) { _ = try SRTPContext(.sending, profile: .aeadAES128GCM, key: short) }
  }
}
