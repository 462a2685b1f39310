import Testing

@testable import SRTP

struct VectorTests {
  @Test func `RFC 3711 B-3 session keys`() {
    let master = SRTPMasterKey(
      key: .init(hex: "E1F97A0D3E018BE0D64FA32C06DE4139"), salt: .init(hex: "0EC675AD498AFEEBB6960B3AABE6"))
    for derive in [SRTPSessionKey.derive, ReferenceCipher.derive] {
      #expect(derive(master, 0, 16) == .init(hex: "C61E7A93744F39EE10734AFE3FF7A087"))
      #expect(derive(master, 2, 14) == .init(hex: "30CBBC08863D8C85D49DB34A9AE1"))
      #expect(derive(master, 1, 94) == .init(hex: Self.authenticationKey))
    }
  }

  private static let authenticationKey = """
    CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE E049646C43D9327AD175578EF7227098
    6371C10C9A369AC2F94A8C5FBCDDDC25 6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
    """

  /// Three blocks from the first counter, and from FEFF the three around the carry into the second byte.
  @Test(arguments: [
    ("0000", "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"),
    ("FEFF", "EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44"),
  ])
  func `RFC 3711 B-2 key stream`(counter: String, stream: String) {
    let computed = ReferenceCipher.counterMode(
      key: .init(hex: "2B7E151628AED2A6ABF7158809CF4F3C"),
      counter: .init(hex: "F0F1F2F3F4F5F6F7F8F9FAFBFCFD" + counter), [UInt8](repeating: 0, count: 48))
    #expect(computed == .init(hex: stream))
  }

  /// The same packets under a key of 16 and of 32 bytes, encrypted and tagged, and tagged only.
  struct AEADVector: CustomTestStringConvertible {
    let keyLength: Int
    let sections: String
    let encryptedRTP, taggedRTP, encryptedRTCP, taggedRTCP: String

    var testDescription: String { sections }
    var key: [UInt8] { Array(0..<UInt8(keyLength)) }
    static let salt = [UInt8]("Quid pro quo".utf8)
    static let rtp = [UInt8](hex: "8040f17b8041f8d35501a0b2") + "Gallia est omnis divisa in partes tres".utf8
    static let rtcp = [UInt8](
      hex: """
        81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61
        deadbeef deadbeef deadbeef deadbeef deadbeef
        """)
    static let index: UInt32 = 0x5d4
  }

  @Test(arguments: [
    AEADVector(
      keyLength: 16, sections: "16.1, 17.1 and 17.3",
      encryptedRTP: """
        f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833
        899d7f27 beb16a91 52cf765e e4390cce
        """,
      taggedRTP: "22493f82 d2bce397 e9d79e3b 19aa4216",
      encryptedRTCP: """
        63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b
        c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
        """,
      taggedRTCP: "841dd968 3dd78ec9 2ae58790 125f62b3 000005d4"),
    AEADVector(
      keyLength: 32, sections: "16.2, 17.2 and 17.4",
      encryptedRTP: """
        32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f 1ba63799 b87b
        7aa3db36 dfffd6b0 f9bb7878 d7a76c13
        """,
      taggedRTP: "a866d591 0f887463 067ceefe c45215d4",
      encryptedRTCP: """
        d50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be 8415f658 c61de047 6f1b6fad
        1d1eb30c 4446839f 57ff6f6c b26ac3be 800005d4
        """,
      taggedRTCP: "91db4afb feee5a97 8fab4393 ed2615fe 000005d4"),
  ])
  func `RFC 7714 packets are encrypted and tagged`(vector: AEADVector) {
    let (key, salt, rtp, rtcp) = (vector.key, AEADVector.salt, AEADVector.rtp, AEADVector.rtcp)
    #expect(
      ReferenceCipher.sealRTP(rtp, key: key, salt: salt, rollover: 0) == rtp[..<12] + [UInt8](hex: vector.encryptedRTP))
    #expect(
      ReferenceCipher.sealRTP(rtp, key: key, salt: salt, rollover: 0, clear: rtp.count)
        == rtp + [UInt8](hex: vector.taggedRTP))
    #expect(Self.sealed(rtp, clear: 12, vector, suffix: nil, index: 0xF17B) == [UInt8](hex: vector.encryptedRTP))
    #expect(Self.sealed(rtp, clear: rtp.count, vector, suffix: nil, index: 0xF17B) == [UInt8](hex: vector.taggedRTP))
    let index = AEADVector.index
    let encrypted = Self.sealed(rtcp, clear: 8, vector, suffix: index | 1 << 31, index: UInt64(index))
    #expect(encrypted == [UInt8](hex: vector.encryptedRTCP).dropLast(4))
    let tagged = Self.sealed(rtcp, clear: rtcp.count, vector, suffix: index, index: UInt64(index))
    #expect(tagged == [UInt8](hex: vector.taggedRTCP).dropLast(4))
    #expect(
      ReferenceCipher.sealRTCP(rtcp, key: key, salt: salt, index: index)
        == rtcp[..<8] + [UInt8](hex: vector.encryptedRTCP))
    #expect(
      ReferenceCipher.sealRTCP(rtcp, key: key, salt: salt, index: index, isEncrypted: false)
        == rtcp + [UInt8](hex: vector.taggedRTCP))
  }

  /// Returns the encrypted part and the tag of a packet under the session key itself.
  private static func sealed(
    _ packet: [UInt8], clear: Int, _ vector: AEADVector, suffix: UInt32?, index: UInt64
  ) -> [UInt8] {
    let profile = vector.keyLength == 32 ? SRTPProfile.aeadAES256GCM : .aeadAES128GCM
    let key = SRTPSessionKey(profile, .sending, key: vector.key, authentication: [], salt: AEADVector.salt)
    let ssrc = clear == 12 || packet == AEADVector.rtp ? packet[8..<12] : packet[4..<8]
    var (bytes, tag) = (packet, [UInt8](repeating: 0, count: 16))
    bytes.withUnsafeMutableBufferPointer {
      key.seal($0, after: clear, suffix: suffix, ssrc.reduce(0) { $0 << 8 | UInt32($1) }, index, into: &tag)
    }
    return bytes[clear...] + tag
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
