import COpenSSL
import CallCore
import SRTP

/// RFC 3711 and RFC 7714 once more, straight from their formulas: what the context is held against.
enum ReferenceCipher {
  /// AES in counter mode from a 16-byte initial counter block.
  static func counterMode(key: [UInt8], counter: [UInt8], _ input: [UInt8]) -> [UInt8] {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var output = [UInt8](repeating: 0, count: input.count)
    var count: Int32 = 0
    EVP_EncryptInit_ex(context, key.count == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr(), nil, key, counter)
    EVP_EncryptUpdate(context, &output, &count, input, Int32(input.count))
    return output
  }

  static func galoisCounterMode(key: [UInt8], iv: [UInt8], associated: [UInt8], _ input: [UInt8]) -> [UInt8] {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var output = [UInt8](repeating: 0, count: input.count)
    var tag = [UInt8](repeating: 0, count: 16)
    var count: Int32 = 0
    EVP_EncryptInit_ex(context, key.count == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), nil, key, iv)
    EVP_EncryptUpdate(context, nil, &count, associated, Int32(associated.count))
    EVP_EncryptUpdate(context, &output, &count, input, Int32(input.count))
    EVP_EncryptFinal_ex(context, nil, &count)
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
    return output + tag
  }

  static func hmacSHA1(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 20)
    HMAC(EVP_sha1(), key, Int32(key.count), message, message.count, &output, nil)
    return output
  }

  /// RFC 3711 section 4.3, key derivation rate 0: labels 0, 1, 2 for RTP and 3, 4, 5 for RTCP.
  static func derive(_ master: SRTPMasterKey, label: UInt8, length: Int) -> [UInt8] {
    var counter = master.salt + [UInt8](repeating: 0, count: 16 - master.salt.count)
    counter[7] ^= label
    return counterMode(key: master.key, counter: counter, [UInt8](repeating: 0, count: length))
  }

  /// The SRTP packet for an RTP packet (RFC 3711 section 4, RFC 7714 section 8).
  ///
  /// - Parameter size: the size of its header.
  static func protectRTP(
    _ packet: [UInt8], header size: Int = 12, profile: SRTPProfile, master: SRTPMasterKey, rollover: UInt32
  ) -> [UInt8] {
    let (header, payload) = (Array(packet[..<size]), Array(packet[size...]))
    let key = derive(master, label: 0, length: profile.keyLength)
    let salt = derive(master, label: 2, length: profile.saltLength)
    var rolloverBytes: [UInt8] = []
    rolloverBytes.append(bigEndian: rollover)
    let index = rolloverBytes + header[2..<4]
    if profile == .aes128CMHMACSHA1_80 {
      let counter = exclusiveOr(salt + [0, 0], [0, 0, 0, 0] + header[8..<12] + index + [0, 0])
      let body = header + counterMode(key: key, counter: counter, payload)
      let authentication = derive(master, label: 1, length: 20)
      return body + hmacSHA1(key: authentication, body + rolloverBytes).prefix(10)
    }
    return sealRTP(packet, key: key, salt: salt, rollover: rollover, clear: size)
  }

  /// AEAD over an RTP packet with session keys (RFC 7714 section 8); unencrypted, the packet is only tagged.
  static func sealRTP(
    _ packet: [UInt8], key: [UInt8], salt: [UInt8], rollover: UInt32, clear: Int = 12
  ) -> [UInt8] {
    var iv: [UInt8] = [0, 0] + packet[8..<12]
    iv.append(bigEndian: rollover)
    iv = exclusiveOr(salt, iv + packet[2..<4])
    return packet[..<clear]
      + galoisCounterMode(key: key, iv: iv, associated: Array(packet[..<clear]), Array(packet[clear...]))
  }

  /// The SRTCP packet for an RTCP packet (RFC 3711 section 3.4, RFC 7714 section 9).
  static func protectRTCP(
    _ packet: [UInt8], profile: SRTPProfile, master: SRTPMasterKey, index: UInt32, isEncrypted: Bool = true
  ) -> [UInt8] {
    let (header, payload) = (Array(packet[..<8]), Array(packet[8...]))
    let key = derive(master, label: 3, length: profile.keyLength)
    let salt = derive(master, label: 5, length: profile.saltLength)
    var (indexBytes, trailer): ([UInt8], [UInt8]) = ([], [])
    indexBytes.append(bigEndian: index)
    trailer.append(bigEndian: isEncrypted ? index | 1 << 31 : index)
    if profile == .aes128CMHMACSHA1_80 {
      let counter = exclusiveOr(salt + [0, 0], [0, 0, 0, 0] + header[4..<8] + [0, 0] + indexBytes + [0, 0])
      let body = header + (isEncrypted ? counterMode(key: key, counter: counter, payload) : payload) + trailer
      return body + hmacSHA1(key: derive(master, label: 4, length: 20), body).prefix(10)
    }
    return sealRTCP(packet, key: key, salt: salt, index: index, isEncrypted: isEncrypted)
  }

  /// AEAD over an RTCP packet with session keys (RFC 7714 section 9); unencrypted, the packet is only tagged.
  static func sealRTCP(
    _ packet: [UInt8], key: [UInt8], salt: [UInt8], index: UInt32, isEncrypted: Bool = true
  ) -> [UInt8] {
    var (iv, trailer): ([UInt8], [UInt8]) = ([0, 0] + packet[4..<8] + [0, 0], [])
    iv.append(bigEndian: index)
    iv = exclusiveOr(salt, iv)
    trailer.append(bigEndian: isEncrypted ? index | 1 << 31 : index)
    let clear = isEncrypted ? 8 : packet.count
    return packet[..<clear]
      + galoisCounterMode(key: key, iv: iv, associated: packet[..<clear] + trailer, Array(packet[clear...])) + trailer
  }

  private static func exclusiveOr(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] { zip(a, b).map { $0 ^ $1 } }
}
