internal import CallCore

/// Foundations (RFC 8445 section 5.1.1.3): equal when type, base address, protocol and server address are equal.
enum ICEFoundation {
  /// Computes a foundation as a hash of its inputs, in decimal. It needs no table and does not depend on the order of
  /// discovery.
  static func make(
    _ type: ICECandidateType, base: IPAddress, server: IPAddress? = nil, discriminator: UInt8 = 0
  ) -> String {
    var hash: UInt32 = 0x811C_9DC5
    mix(discriminator, into: &hash)
    for byte in type.rawValue.utf8 { mix(byte, into: &hash) }
    for byte in base.bytes { mix(byte, into: &hash) }
    for byte in server?.bytes ?? [] { mix(byte, into: &hash) }
    return String(hash)
  }

  /// Adds a byte to an FNV-1a hash.
  private static func mix(_ byte: UInt8, into hash: inout UInt32) {
    hash = (hash ^ UInt32(byte)) &* 0x0100_0193
  }
}
