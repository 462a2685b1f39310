internal import COpenSSL

/// The last alert of each direction of a connection, as reported by libssl.
struct AlertRecord {
  private(set) var received: TLSAlert?
  private(set) var sent: TLSAlert?

  /// Records the event of an info callback if it is an alert.
  mutating func note(_ event: Int32, _ value: Int32) {
    guard event & SSL_CB_ALERT != 0 else { return }
    let alert = TLSAlert(rawValue: UInt8(truncatingIfNeeded: value))
    if event & SSL_CB_READ != 0 { received = alert } else { sent = alert }
  }
}
