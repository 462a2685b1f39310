import CallCore
import DTLS
import StackWorlds
import Testing

struct CertificateTests {
  @Test func `the same stream makes the same certificate`() {
    let (first, second) = (DTLSPair.certificate("carol", seed: 9), DTLSPair.certificate("carol", seed: 9))
    #expect(first.der == second.der)
    #expect(first.der != DTLSPair.certificate("carol", seed: 10).der)
    #expect(first.der != DTLSPair.certificate("dave", seed: 9).der)
  }

  @Test func `the wall clock dates it`() {
    let stream = RandomSource(seed: 1).stream("c")
    let certificate = Certificate.generate(name: "c", entropy: .stream(stream), wallClock: WallClock())
    // UTCTime values, a day before and thirty days after 2026-01-01T00:00:00Z.
    let text = String(decoding: certificate.der, as: UTF8.self)
    #expect(text.contains("251231000000Z") && text.contains("260131000000Z"))
  }

  @Test func `a name beyond 64 bytes is cut`() {
    let name = String(repeating: "é", count: 100)
    let certificate = DTLSPair.certificate(name)
    #expect(String(decoding: certificate.der, as: UTF8.self).contains(String(repeating: "é", count: 32)))
  }

  @Test(arguments: Fingerprint.HashFunction.allCases)
  func `a fingerprint survives its own text`(function: Fingerprint.HashFunction) {
    let fingerprint = DTLSPair.certificates.client.fingerprint(function)
    #expect(Fingerprint(fingerprint.description) == fingerprint)
    #expect(Fingerprint(fingerprint.description.lowercased()) == fingerprint)
    #expect(fingerprint.digest.count == function.length)
  }

  @Test(arguments: [
    "", "sha-256", "sha-256 ", "sha-256 AA:BB", "md5 " + "AA:BB", "sha-1 " + String(repeating: "A:", count: 20),
    "sha-1 " + String(repeating: "AA", count: 20), "sha-1 " + String(repeating: "GG:", count: 19) + "GG",
  ])
  func `a broken fingerprint is refused`(text: String) {
    #expect(Fingerprint(text) == nil)
  }
}
