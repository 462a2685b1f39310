/// A master key and its salt, for one direction.
package struct SRTPMasterKey: Hashable, Sendable {
  package let key: [UInt8]
  package let salt: [UInt8]

  package init(key: [UInt8], salt: [UInt8]) {
    self.key = key
    self.salt = salt
  }
}

/// The SRTP keys from a DTLS handshake: a profile and a master key for each direction.
package struct SRTPKeys: Hashable, Sendable {
  package let profile: SRTPProfile
  /// The key that protects sent packets.
  package let local: SRTPMasterKey
  /// The key that unprotects received packets.
  package let remote: SRTPMasterKey

  package init(profile: SRTPProfile, local: SRTPMasterKey, remote: SRTPMasterKey) {
    self.profile = profile
    self.local = local
    self.remote = remote
  }

  /// Returns the number of bytes that the DTLS exporter must produce for `profile`.
  package static func exportLength(for profile: SRTPProfile) -> Int { 2 * (profile.keyLength + profile.saltLength) }

  /// Splits exported keying material into client key, server key, client salt, server salt (RFC 5764 section 4.2).
  ///
  /// - Parameter isClient: whether this end was the DTLS client.
  /// - Returns: nil when `exported` has the wrong length.
  package init?(profile: SRTPProfile, exported: [UInt8], isClient: Bool) {
    guard exported.count == Self.exportLength(for: profile) else { return nil }
    let (key, salt) = (profile.keyLength, profile.saltLength)
    let client = SRTPMasterKey(key: Array(exported[..<key]), salt: Array(exported[(2 * key)..<(2 * key + salt)]))
    let server = SRTPMasterKey(key: Array(exported[key..<(2 * key)]), salt: Array(exported[(2 * key + salt)...]))
    self.init(profile: profile, local: isClient ? client : server, remote: isClient ? server : client)
  }
}
