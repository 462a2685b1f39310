/// Transmission sequence numbers as 64-bit numbers that do not wrap.
enum TSN {
  /// Returns the extended number of `raw` that is nearest to `reference`.
  static func extend(_ raw: UInt32, near reference: Int64) -> Int64 {
    reference + Int64(Int32(bitPattern: raw &- UInt32(truncatingIfNeeded: reference)))
  }

  /// Returns the number as it is on the wire.
  static func wire(_ tsn: Int64) -> UInt32 { UInt32(truncatingIfNeeded: tsn) }
}

extension UInt16 {
  /// Whether a stream sequence number is before another (RFC 1982).
  func precedes(_ other: UInt16) -> Bool { Int16(bitPattern: self &- other) < 0 }
}
