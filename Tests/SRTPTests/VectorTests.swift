import SRTP
import Testing

struct VectorTests {
  @Test func `RFC 3711 B-3 session keys`() {
    let master = SRTPMasterKey(
      key: .init(hex: "E1F97A0D3E018BE0D64FA32C06DE4139"), salt: .init(hex: "0EC675AD498AFEEBB6960B3AABE6"))
    #expect(ReferenceCipher.derive(master, label: 0, length: 16) == .init(hex: "C61E7A93744F39EE10734AFE3FF7A087"))
    #expect(ReferenceCipher.derive(master, label: 2, length: 14) == .init(hex: "30CBBC08863D8C85D49DB34A9AE1"))
    #expect(
      ReferenceCipher.derive(master, label: 1, length: 20) == .init(hex: "CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
  }

  @Test func `RFC 3711 B-2 key stream`() {
    let stream = ReferenceCipher.counterMode(
      key: .init(hex: "2B7E151628AED2A6ABF7158809CF4F3C"), counter: .init(hex: "F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"),
      [UInt8](repeating: 0, count: 48))
    #expect(
      stream
        == .init(
          hex: """
            E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0
            """))
  }

  @Test func `RFC 7714 16-1-1 encrypted packet`() {
    let sealed = ReferenceCipher.galoisCounterMode(
      key: .init(hex: "000102030405060708090a0b0c0d0e0f"), iv: .init(hex: "51753c6580c2726f20718414"),
      associated: .init(hex: "8040f17b8041f8d35501a0b2"),
      .init(
        hex: "47616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573"))
    #expect(
      sealed
        == .init(
          hex: """
            f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833
            899d7f27beb16a9152cf765ee4390cce
            """))
  }

  @Test(arguments: [SRTPProfile.aes128CMHMACSHA1_80, .aeadAES128GCM, .aeadAES256GCM])
  func `packets are those of the formulas`(profile: SRTPProfile) throws {
    let link = try Link(profile)
    let master = Packets.master(profile)
    for (sequence, rollover) in [(65_534, 0), (65_535, 0), (0, 1), (1, 1)] as [(UInt16, UInt32)] {
      let plain = Packets.rtp(sequence)
      let expected = ReferenceCipher.protectRTP(plain, profile: profile, master: master, rollover: rollover)
      #expect(try link.protect(plain) == expected)
      #expect(expected.count == plain.count + profile.rtpOverhead)
    }
    for index in 1...3 as ClosedRange<UInt32> {
      let plain = Packets.rtcp()
      let expected = ReferenceCipher.protectRTCP(plain, profile: profile, master: master, index: index)
      let sealed = try link.sender.apply(.protectRTCP, plain).get()
      #expect(sealed == expected)
      #expect(expected.count == plain.count + profile.rtcpOverhead)
    }
  }

  @Test func `exported material is client key, server key, client salt, server salt`() throws {
    let exported = (0..<56).map { UInt8($0) }
    let client = try #require(SRTPKeys(profile: .aeadAES128GCM, exported: exported, isClient: true))
    #expect(client.local == SRTPMasterKey(key: Array(0..<16), salt: Array(32..<44)))
    #expect(client.remote == SRTPMasterKey(key: Array(16..<32), salt: Array(44..<56)))
    let server = try #require(SRTPKeys(profile: .aeadAES128GCM, exported: exported, isClient: false))
    #expect(server.local == client.remote && server.remote == client.local)
    #expect(SRTPKeys(profile: .aes128CMHMACSHA1_80, exported: exported, isClient: true) == nil)
  }
}
