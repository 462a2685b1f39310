internal import COpenSSL

/// The session keys of RTP or of RTCP, and the transforms with them: AES in counter mode with HMAC-SHA1 (RFC 3711
/// section 4), or AES in Galois/counter mode (RFC 7714).
///
/// Packets are changed in place, without allocation.
struct SRTPSessionKey: ~Copyable {
  /// The labels of the key derivation (RFC 3711 section 4.3.2).
  enum Stream: UInt8 {
    case rtp = 0
    case rtcp = 3
  }

  private let isAEAD: Bool
  private let tagSize: Int
  /// The cipher under the session key.
  private let cipher: OpaquePointer
  /// The session salt as the upper and lower half of an initialization vector, padded with zeros.
  private let salt: (high: UInt64, low: UInt64)
  /// HMAC-SHA1 with the key already hashed, so that a tag costs no allocation: the inner and the outer hash.
  private let authentication: (inner: SHA_CTX, outer: SHA_CTX)

  /// Derives the session keys from a master key, with a key derivation rate of zero.
  init(_ stream: Stream, _ profile: SRTPProfile, _ master: SRTPMasterKey, _ direction: SRTPContext.Direction) {
    let label = stream.rawValue
    let key = Self.derive(master, label: label, length: profile.keyLength)
    let authentication = profile.isAEAD ? [] : Self.derive(master, label: label + 1, length: 20)
    let salt = Self.derive(master, label: label + 2, length: profile.saltLength)
    self.init(profile, direction, key: key, authentication: authentication, salt: salt)
  }

  /// Makes the transforms for given session keys.
  init(
    _ profile: SRTPProfile, _ direction: SRTPContext.Direction, key: [UInt8], authentication: [UInt8], salt: [UInt8]
  ) {
    isAEAD = profile.isAEAD
    tagSize = profile.rtpOverhead
    cipher = Self.context(profile.cipher, key: key, direction)
    let padded = salt + [UInt8](repeating: 0, count: 16 - salt.count)
    self.salt = (Self.word(padded[0..<8]), Self.word(padded[8..<16]))
    self.authentication = Self.keyedHashes(authentication)
  }

  deinit { EVP_CIPHER_CTX_free(cipher) }

  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  // MARK: Protection

  /// Encrypts from `clear` to the end of `packet`, in place.
  func encrypt(_ packet: UnsafeMutableBufferPointer<UInt8>, after clear: Int, _ ssrc: UInt32, _ index: UInt64) {
    guard packet.count > clear else { return }
    setVector(ssrc, index)
    let start = packet.baseAddress! + clear
    var written: Int32 = 0
    Self.check(EVP_CipherUpdate(cipher, start, &written, start, Int32(packet.count - clear)))
  }

  /// Writes the HMAC-SHA1 of `packet` and `suffix`, cut to the size of a tag, to `tag`.
  func authenticate(
    _ packet: UnsafeMutableBufferPointer<UInt8>, suffix: UInt32, into tag: UnsafeMutablePointer<UInt8>
  ) {
    var digest = InlineArray<20, UInt8>(repeating: 0)
    hash(packet, suffix: suffix, into: &digest)
    for index in 0..<tagSize { tag[index] = digest[index] }
  }

  /// Returns whether `tag` belongs to `packet` and `suffix`, in a time that does not depend on the content.
  func isAuthentic(
    _ packet: UnsafeMutableBufferPointer<UInt8>, suffix: UInt32, tag: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    var digest = InlineArray<20, UInt8>(repeating: 0)
    hash(packet, suffix: suffix, into: &digest)
    return digest.span.withUnsafeBytes { CRYPTO_memcmp($0.baseAddress, tag, tagSize) == 0 }
  }

  private func hash(
    _ packet: UnsafeMutableBufferPointer<UInt8>, suffix: UInt32, into digest: inout InlineArray<20, UInt8>
  ) {
    var inner = authentication.inner
    SHA1_Update(&inner, packet.baseAddress, packet.count)
    withUnsafeBytes(of: suffix.bigEndian) { _ = SHA1_Update(&inner, $0.baseAddress, 4) }
    var outer = authentication.outer
    var bytes = digest.mutableSpan
    bytes.withUnsafeMutableBufferPointer { buffer in
      SHA1_Final(buffer.baseAddress, &inner)
      SHA1_Update(&outer, buffer.baseAddress, buffer.count)
      SHA1_Final(buffer.baseAddress, &outer)
    }
  }

  // MARK: Authenticated encryption

  /// Encrypts `packet` after its first `clear` bytes in place, and writes the tag of it all and `suffix` to `tag`.
  func seal(
    _ packet: UnsafeMutableBufferPointer<UInt8>, after clear: Int, suffix: UInt32?, _ ssrc: UInt32, _ index: UInt64,
    into tag: UnsafeMutablePointer<UInt8>
  ) {
    setVector(ssrc, index)
    Self.check(transform(packet, after: clear, suffix: suffix))
    var written: Int32 = 0
    Self.check(EVP_EncryptFinal_ex(cipher, tag, &written))
    Self.check(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagSize), tag))
  }

  /// Decrypts `packet` after its first `clear` bytes in place.
  ///
  /// - Returns: whether `tag` belongs to it all and `suffix`.
  func open(
    _ packet: UnsafeMutableBufferPointer<UInt8>, after clear: Int, suffix: UInt32?, _ ssrc: UInt32, _ index: UInt64,
    tag: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    setVector(ssrc, index)
    Self.check(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagSize), tag))
    guard transform(packet, after: clear, suffix: suffix) == 1 else { return false }
    var (written, rest) = (Int32(0), InlineArray<16, UInt8>(repeating: 0))
    var span = rest.mutableSpan
    return span.withUnsafeMutableBufferPointer { EVP_DecryptFinal_ex(cipher, $0.baseAddress, &written) == 1 }
  }

  private func transform(
    _ packet: UnsafeMutableBufferPointer<UInt8>, after clear: Int, suffix: UInt32?
  ) -> Int32 {
    var written: Int32 = 0
    Self.check(EVP_CipherUpdate(cipher, nil, &written, packet.baseAddress, Int32(clear)))
    if let suffix {
      withUnsafeBytes(of: suffix.bigEndian) {
        Self.check(EVP_CipherUpdate(cipher, nil, &written, $0.baseAddress, 4))
      }
    }
    guard packet.count > clear else { return 1 }
    let start = packet.baseAddress! + clear
    return EVP_CipherUpdate(cipher, start, &written, start, Int32(packet.count - clear))
  }

  /// Starts the cipher at the initialization vector of a packet (RFC 3711 section 4.1.1, RFC 7714 sections 8.1 and 9.1).
  private func setVector(_ ssrc: UInt32, _ index: UInt64) {
    let vector =
      isAEAD
      ? (high: salt.high ^ UInt64(ssrc) << 16 ^ index >> 32, low: salt.low ^ index << 32)
      : (high: salt.high ^ UInt64(ssrc), low: salt.low ^ index << 16)
    withUnsafeBytes(of: (vector.high.bigEndian, vector.low.bigEndian)) { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      Self.check(EVP_CipherInit_ex(cipher, nil, nil, nil, start, -1))
    }
  }

  // MARK: Keys

  /// Returns session key material (RFC 3711 section 4.3.1): the key stream of the master key.
  static func derive(_ master: SRTPMasterKey, label: UInt8, length: Int) -> [UInt8] {
    let cipher = SRTPProfile.counterMode(keyLength: master.key.count)
    var block = master.salt + [UInt8](repeating: 0, count: 16 - master.salt.count)
    block[7] ^= label
    let context = context(cipher, key: master.key, .sending)
    defer { EVP_CIPHER_CTX_free(context) }
    var stream = [UInt8](repeating: 0, count: length)
    var written: Int32 = 0
    check(EVP_CipherInit_ex(context, nil, nil, nil, block, -1))
    check(EVP_CipherUpdate(context, &stream, &written, [UInt8](repeating: 0, count: length), Int32(length)))
    return stream
  }

  private static func context(
    _ cipher: OpaquePointer, key: [UInt8], _ direction: SRTPContext.Direction
  ) -> OpaquePointer {
    guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("OpenSSL cannot make a cipher: out of memory") }
    check(EVP_CipherInit_ex(context, cipher, nil, key, nil, direction == .sending ? 1 : 0))
    return context
  }

  /// Returns the inner and outer hash of HMAC-SHA1 (RFC 2104) after the key.
  private static func keyedHashes(_ key: [UInt8]) -> (inner: SHA_CTX, outer: SHA_CTX) {
    let block = key + [UInt8](repeating: 0, count: 64 - key.count)
    var (inner, outer) = (SHA_CTX(), SHA_CTX())
    SHA1_Init(&inner)
    SHA1_Update(&inner, block.map { $0 ^ 0x36 }, 64)
    SHA1_Init(&outer)
    SHA1_Update(&outer, block.map { $0 ^ 0x5C }, 64)
    return (inner, outer)
  }

  private static func check(_ status: Int32) {
    precondition(status == 1, "OpenSSL refuses a cipher that it offers")
  }
}

extension SRTPProfile {
  var isAEAD: Bool { self == .aeadAES128GCM || self == .aeadAES256GCM }

  fileprivate var cipher: OpaquePointer {
    switch self {
    case .aes128CMHMACSHA1_80: Self.counterMode(keyLength: 16)
    case .aeadAES128GCM: Self.aes128GCM
    case .aeadAES256GCM: Self.aes256GCM
    }
  }

  fileprivate static func counterMode(keyLength: Int) -> OpaquePointer { keyLength == 32 ? aes256CTR : aes128CTR }

  // Fetched once: OpenSSL 3 takes a lock and walks its providers on every fetch. Immutable and never freed.
  nonisolated(unsafe) private static let aes128CTR = fetch("AES-128-CTR")
  nonisolated(unsafe) private static let aes256CTR = fetch("AES-256-CTR")
  nonisolated(unsafe) private static let aes128GCM = fetch("AES-128-GCM")
  nonisolated(unsafe) private static let aes256GCM = fetch("AES-256-GCM")

  private static func fetch(_ name: String) -> OpaquePointer {
    guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else {
      preconditionFailure("this OpenSSL does not provide \(name)")
    }
    return cipher
  }
}
