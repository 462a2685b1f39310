package import CallCore

/// Sees what a live connection's UDP sockets send and receive, at the machine's date in nanoseconds since 1970.
package protocol LiveTap: AnyObject {
  func sent(_ datagram: RawSpan, on path: Path, unixNanoseconds: Int64)
  func received(_ datagram: RawSpan, on path: Path, unixNanoseconds: Int64)
  /// An NSS key log line, which decrypts what is seen.
  func learnt(keyLog line: String)
}
