import Digests
import Testing

@Suite struct DigestsTests {
  private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

  @Test(arguments: [
    (HashFunction.md5, "900150983cd24fb0d6963f7d28e17f72"),
    (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  ])
  func `digests of abc match RFC 1321 and FIPS 180-4`(function: HashFunction, expected: String) {
    #expect(Hexadecimal.encode(function.digest(of: bytes("abc"))) == expected)
  }

  @Test(arguments: [
    (HashFunction.md5, "d41d8cd98f00b204e9800998ecf8427e"),
    (.sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    (.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  ])
  func `the digest of nothing is defined`(function: HashFunction, expected: String) {
    #expect(Hexadecimal.encode(function.digest(of: [])) == expected)
  }

  @Test func `HMAC-SHA1 matches RFC 2202 cases 2 and 6`() {
    let short = HMAC.code(.sha1, key: bytes("Jefe"), of: bytes("what do ya want for nothing?"))
    #expect(Hexadecimal.encode(short) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    let longKey = HMAC.code(
      .sha1, key: [UInt8](repeating: 0xAA, count: 80),
      of: bytes("Test Using Larger Than Block-Size Key - Hash Key First")
    )
    #expect(Hexadecimal.encode(longKey) == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
  }

  @Test func `HMAC-SHA256 matches RFC 4231 cases 1 and 6`() {
    let short = HMAC.code(.sha256, key: [UInt8](repeating: 0x0B, count: 20), of: bytes("Hi There"))
    #expect(
      Hexadecimal.encode(short) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    let longKey = HMAC.code(
      .sha256, key: [UInt8](repeating: 0xAA, count: 131),
      of: bytes("Test Using Larger Than Block-Size Key - Hash Key First"))
    #expect(
      Hexadecimal.encode(longKey) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  @Test func `an HMAC fed in pieces equals one fed at once`() {
    var pieces = HMAC(.sha1, key: bytes("key").span.bytes)
    pieces.update(bytes("one ").span.bytes)
    pieces.update([UInt8]().span.bytes)
    pieces.update(bytes("two").span.bytes)
    let code = pieces.finish()
    #expect(code == HMAC.code(.sha1, key: bytes("key"), of: bytes("one two")))
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
  ])
  func `base64 matches RFC 4648 section 10`(plain: String, coded: String) {
    #expect(Base64.encode(bytes(plain)) == coded)
    #expect(Base64.decode(coded) == bytes(plain))
  }

  @Test(arguments: ["Zg=", "Zg", "Z", "=g==", "Zm9v=", "Zm 9", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm-_"])
  func `text that is not canonical base64 is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `every byte survives base64 and hexadecimal`() {
    let all = (0...255).map { UInt8($0) }
    #expect(Base64.decode(Base64.encode(all)) == all)
    #expect(Hexadecimal.decode(Hexadecimal.encode(all)) == all)
    #expect(Hexadecimal.decode("0G") == nil)
    #expect(Hexadecimal.decode("012") == nil)
  }

  @Test func `a constant-time comparison tells equal from different`() {
    let (a, b, c) = (bytes("secret"), bytes("secreT"), bytes("secre"))
    let same = constantTimeEqual(a.span.bytes, a.span.bytes)
    let different = constantTimeEqual(a.span.bytes, b.span.bytes)
    let shorter = constantTimeEqual(a.span.bytes, c.span.bytes)
    #expect(same && !different && !shorter)
  }

  @Test(arguments: [
    ("1767225600:alice", "cKsoCBFARPS7CI3opSSyZFMY3VY="), ("1767225600", "oTZ4Ekg0EXJblMfxLz/vMZYpeXM="),
  ])
  func `time-limited TURN passwords match the published vectors`(username: String, password: String) {
    #expect(Base64.encode(HMAC.code(.sha1, key: bytes("callsim-secret"), of: bytes(username))) == password)
  }
}
