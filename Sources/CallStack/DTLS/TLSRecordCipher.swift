internal import COpenSSL
internal import CallCore

/// An AEAD cipher suite of TLS 1.2 or 1.3: the cipher of records, and the hash that derives its keys.
struct TLSSuite {
  enum Algorithm { case aes128GCM, aes256GCM, chaCha20Poly1305 }

  let algorithm: Algorithm
  let usesSHA384: Bool

  /// Looks up a suite by its number (RFC 8446 appendix B.4, RFC 5289, RFC 7905); returns nil for others.
  init?(_ number: UInt16) {
    switch number {
    case 0x1301, 0xC02B, 0xC02F: (algorithm, usesSHA384) = (.aes128GCM, false)
    case 0x1302, 0xC02C, 0xC030: (algorithm, usesSHA384) = (.aes256GCM, true)
    case 0x1303, 0xCCA9, 0xCCA8: (algorithm, usesSHA384) = (.chaCha20Poly1305, false)
    default: return nil
    }
  }

  var keyLength: Int { algorithm == .aes128GCM ? 16 : 32 }
  var hashLength: Int { usesSHA384 ? 48 : 32 }
  /// The length of the nonce's part in the TLS 1.2 key block; the rest is in the record.
  var fixedNonceLength: Int { algorithm == .chaCha20Poly1305 ? 12 : 4 }

  func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var length: UInt32 = 0
      let hash = usesSHA384 ? EVP_sha384() : EVP_sha256()
      HMAC(hash, key, Int32(key.count), data, data.count, buffer.baseAddress, &length)
      count = Int(length)
    }
  }

  /// Computes HKDF-Expand-Label (RFC 8446 section 7.1) with an empty context.
  func expand(_ secret: [UInt8], _ label: String, length: Int) -> [UInt8] {
    let name = Array("tls13 \(label)".utf8)
    let info = [UInt8(length >> 8), UInt8(length & 0xFF), UInt8(name.count)] + name + [0]
    var (made, block, number): ([UInt8], [UInt8], UInt8) = ([], [], 1)
    while made.count < length {
      block = hmac(secret, block + info + [number])
      made += block
      number += 1
    }
    return Array(made.prefix(length))
  }

  /// Computes the PRF of RFC 5246 section 5.
  func prf(_ secret: [UInt8], _ label: String, _ seed: [UInt8], length: Int) -> [UInt8] {
    let seed = Array(label.utf8) + seed
    var (made, a): ([UInt8], [UInt8]) = ([], seed)
    while made.count < length {
      a = hmac(secret, a)
      made += hmac(secret, a + seed)
    }
    return Array(made.prefix(length))
  }
}

/// Decrypts the protected records of one direction, in order.
struct TLSRecordCipher {
  let suite: TLSSuite
  let version: TLSVersion
  private let key: [UInt8]
  private let nonce: [UInt8]
  private var sequence: UInt64 = 0
  private static let tagLength = 16

  init(suite: TLSSuite, trafficSecret: [UInt8]) {
    self.suite = suite
    version = .tls13
    key = suite.expand(trafficSecret, "key", length: suite.keyLength)
    nonce = suite.expand(trafficSecret, "iv", length: 12)
  }

  init(suite: TLSSuite, key: [UInt8], nonce: [UInt8]) {
    self.suite = suite
    version = .tls12
    self.key = key
    self.nonce = nonce
  }

  /// Decrypts a record with its header; returns the plaintext and its content type, or nil if authentication fails.
  mutating func open(_ record: [UInt8]) -> (type: UInt8, plain: [UInt8])? {
    let carriesNonce = version == .tls12 && suite.algorithm != .chaCha20Poly1305
    let start = 5 + (carriesNonce ? 8 : 0)
    let length = record.count - start - Self.tagLength
    guard length >= 0 else { return nil }
    var number: [UInt8] = []
    number.append(bigEndian: sequence)
    var iv = nonce
    if carriesNonce {
      iv += record[5..<13]
    } else {
      for index in 0..<8 { iv[4 + index] ^= number[index] }
    }
    let additional =
      version == .tls13
      ? Array(record[..<5]) : number + record[..<3] + [UInt8(length >> 8), UInt8(length & 0xFF)]
    sequence += 1
    guard let plain = decrypt(Array(record[start...]), length, iv, additional) else { return nil }
    guard version == .tls13 else { return (record[0], plain) }
    // The type is the last byte that is not padding (RFC 8446 section 5.2).
    guard let last = plain.lastIndex(where: { $0 != 0 }) else { return nil }
    return (plain[last], Array(plain[..<last]))
  }

  private func decrypt(_ sealed: [UInt8], _ length: Int, _ iv: [UInt8], _ additional: [UInt8]) -> [UInt8]? {
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    let cipher =
      switch suite.algorithm {
      case .aes128GCM: EVP_aes_128_gcm()
      case .aes256GCM: EVP_aes_256_gcm()
      case .chaCha20Poly1305: EVP_chacha20_poly1305()
      }
    var (plain, count, rest) = ([UInt8](repeating: 0, count: length + Self.tagLength), Int32(0), Int32(0))
    var tag = Array(sealed[length...])
    let opened =
      EVP_DecryptInit_ex(context, cipher, nil, key, iv) == 1
      && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
      && EVP_DecryptUpdate(context, nil, &rest, additional, Int32(additional.count)) == 1
      && EVP_DecryptUpdate(context, &plain, &count, sealed, Int32(length)) == 1
      && EVP_DecryptFinal_ex(context, nil, &rest) == 1
    ERR_clear_error()
    return opened ? Array(plain.prefix(Int(count))) : nil
  }
}
