internal import CallCore

/// Hashes that are cheap and equal in every process, for tables that are looked up once per packet. They need not
/// resist an adversary: addresses come from the scenario.
extension IPAddress {
  @inline(__always) var quickHash: UInt64 {
    ((high &* 0x9E37_79B9_7F4A_7C15) ^ low) &* 0xD6E8_FEB8_6659_FD93
  }
}

extension Endpoint {
  @inline(__always) var quickHash: UInt64 {
    (address.quickHash ^ UInt64(port)) &* 0x9E37_79B9_7F4A_7C15
  }
}
