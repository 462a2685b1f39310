import CallCore
import DTLS
import StackWorlds
import Testing

/// Certificates and keys in PEM form.
struct TLSFileTests {
  /// Another server's.
  private static var stranger: TLSIdentity {
    TLSPair.authority.issue(
      names: ["other.test"], addresses: [], validity: TLSPair.start...TLSPair.start + TLSPair.day,
      entropy: .stream(RandomSource(seed: 3).stream("identity")))
  }

  private static func file(_ name: String, _ text: String) -> PEMFile { PEMFile(path: name, bytes: Array(text.utf8)) }

  @Test func `an identity is written and read again`() throws {
    let certificate = Self.file("certificate.pem", TLSPair.identity.certificatePEM)
    let key = Self.file("key.pem", TLSPair.identity.keyPEM)
    let pair = try TLSPair(identity: TLSIdentity.read(certificate: certificate, key: key))
    pair.run()
    #expect(pair.client.state == .established)
  }

  @Test func `files that are no certificate and no key are refused with the reason`() throws {
    let good = Self.file("certificate.pem", TLSPair.identity.certificatePEM)
    let key = Self.file("key.pem", TLSPair.identity.keyPEM)
    let other = Self.file("other.pem", Self.stranger.keyPEM)
    let empty = Self.file("empty.pem", "")
    let text = Self.file("text.pem", "no certificate at all")
    let cases = [
      (text, key, "'text.pem' has no certificate in PEM form"), (empty, key, "has no certificate in PEM form"),
      (good, text, "has no private key in PEM form without a passphrase"), (good, other, "is not that of the first"),
    ]
    for (certificate, key, reason) in cases {
      #expect {
        try TLSIdentity.read(certificate: certificate, key: key)
      } throws: { "\($0)".contains(reason) }
    }
  }
}
