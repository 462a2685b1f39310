internal import SDP

extension [Bandwidth] {
  /// Returns the lowest limit in bit/s of a remote description; nil when it sets none.
  ///
  /// - Parameter headers: the bits of headers in a second, which `b=AS` counts and `b=TIAS` does not (RFC 3890 section
  ///   6.2).
  func limit(headers: Int64) -> Int64? {
    lazy.compactMap { bandwidth -> Int64? in
      let value = Int64(Swift.min(bandwidth.value, 1_000_000_000))
      switch bandwidth.modifier {
      case "AS": return value * 1_000 - headers
      case "TIAS": return value
      default: return nil
      }
    }.min()
  }
}
