/// Keyed message authentication (RFC 2104) of input in pieces.
///
/// Built from two digests: OpenSSL 3's own HMAC looks its hash function up by name on every use.
package struct HMAC: ~Copyable {
  /// The block size of every hash function here, in bytes.
  private static let blockSize = 64

  private var inner: HashState
  private var outer: HashState

  package init(_ function: HashFunction, key: RawSpan) {
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    if key.byteCount > Self.blockSize {
      block.replaceSubrange(0..<function.digestSize, with: function.digest(of: key))
    } else {
      for index in 0..<key.byteCount { block[index] = key.unsafeLoad(fromByteOffset: index, as: UInt8.self) }
    }
    inner = HashState(function)
    outer = HashState(function)
    for index in block.indices { block[index] ^= 0x36 }
    inner.update(block.span.bytes)
    for index in block.indices { block[index] ^= 0x36 ^ 0x5C }
    outer.update(block.span.bytes)
  }

  package mutating func update(_ bytes: RawSpan) { inner.update(bytes) }

  package consuming func finish() -> [UInt8] {
    var outer = outer
    let digest = inner.finish()
    outer.update(digest.span.bytes)
    return outer.finish()
  }

  /// Returns the authentication code of `bytes` under `key`.
  package static func code(_ function: HashFunction, key: [UInt8], of bytes: [UInt8]) -> [UInt8] {
    var state = HMAC(function, key: key.span.bytes)
    state.update(bytes.span.bytes)
    return state.finish()
  }
}

/// Returns whether two byte strings are equal, in time that depends only on their lengths.
package func constantTimeEqual(_ a: RawSpan, _ b: RawSpan) -> Bool {
  guard a.byteCount == b.byteCount else { return false }
  var difference: UInt8 = 0
  for index in 0..<a.byteCount {
    difference |=
      a.unsafeLoad(fromByteOffset: index, as: UInt8.self) ^ b.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }
  return difference == 0
}
