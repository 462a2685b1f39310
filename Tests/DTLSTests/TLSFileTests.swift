import CallCore
import DTLS
import Foundation
import StackWorlds
import Testing

/// Certificates and keys from files.
struct TLSFileTests {
  private static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("callsim-tls-files")

  /// Another server's.
  private static var stranger: TLSIdentity {
    TLSPair.authority.issue(
      names: ["other.test"], addresses: [], validity: TLSPair.start...TLSPair.start + TLSPair.day,
      entropy: .stream(RandomSource(seed: 3).stream("identity")))
  }

  private static func write(_ name: String, _ text: String) throws -> String {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appendingPathComponent("\(UUID().uuidString)-\(name)")
    try text.write(to: path, atomically: true, encoding: .utf8)
    return path.path
  }

  @Test func `an identity is written and read again`() throws {
    let certificate = try Self.write("certificate.pem", TLSPair.identity.certificatePEM)
    let key = try Self.write("key.pem", TLSPair.identity.keyPEM)
    let pair = try TLSPair(identity: TLSIdentity.read(certificateFile: certificate, keyFile: key))
    pair.run()
    #expect(pair.client.state == .established)
  }

  @Test func `files that are no certificate and no key are refused with the reason`() throws {
    let good = try Self.write("certificate.pem", TLSPair.identity.certificatePEM)
    let key = try Self.write("key.pem", TLSPair.identity.keyPEM)
    let other = try Self.write("other.pem", Self.stranger.keyPEM)
    let text = try Self.write("text.pem", "no certificate at all")
    let cases = [
      ("/nowhere/c.pem", key, "'/nowhere/c.pem' cannot be read"), (text, key, "has no certificate in PEM form"),
      (good, "/nowhere/k.pem", "'/nowhere/k.pem' cannot be read"),
      (good, text, "has no private key in PEM form without a passphrase"), (good, other, "is not that of the first"),
    ]
    for (certificate, key, reason) in cases {
      #expect {
        try TLSIdentity.read(certificateFile: certificate, keyFile: key)
      } throws: { "\($0)".contains(reason) }
    }
  }
}
