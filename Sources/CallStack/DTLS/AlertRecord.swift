internal import COpenSSL

/// The last alert of each direction of a connection, as libssl tells of them.
struct AlertRecord {
  private(set) var received: TLSAlert?
  private(set) var sent: TLSAlert?

  /// Takes what an info callback is told; what is about no alert is left alone.
  mutating func note(_ event: Int32, _ value: Int32) {
    guard event & SSL_CB_ALERT != 0 else { return }
    let alert = TLSAlert(rawValue: UInt8(truncatingIfNeeded: value))
    if event & SSL_CB_READ != 0 { received = alert } else { sent = alert }
  }
}
