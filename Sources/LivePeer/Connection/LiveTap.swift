package import CallCore

/// An observer of a live connection's UDP datagrams, with the machine's date in nanoseconds since 1970.
package protocol LiveTap: AnyObject {
  func sent(_ datagram: RawSpan, on path: Path, unixNanoseconds: Int64)
  func received(_ datagram: RawSpan, on path: Path, unixNanoseconds: Int64)
  /// Receives an NSS key log line, which decrypts the datagrams.
  func learnt(keyLog line: String)
}
