internal import COpenSSL
internal import CVirtualClock
package import CallCore

/// A test that libssl reads the virtual clock in this process.
///
/// All timers of DTLS depend on it. The linker decides whether the program's `gettimeofday` replaces libc's, so it is
/// measured, once, before the first transport.
package enum VirtualClockCheck {
  /// Starts a one-second DTLS timer, advances virtual time by 400 ms, and returns the remaining time in libssl.
  ///
  /// - Returns: 600 ms if libssl uses the virtual clock; another value, or nil, if not.
  package static func remainingAfter400Milliseconds() -> Interval? {
    guard let context = SSL_CTX_new(DTLS_client_method()), let ssl = SSL_new(context),
      let reader = BIO_new(BIO_s_mem()), let writer = BIO_new(BIO_s_null())
    else { return nil }
    defer {
      SSL_free(ssl)
      SSL_CTX_free(context)
    }
    BIO_ctrl(reader, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
    SSL_set_bio(ssl, reader, writer)
    SSL_set_connect_state(ssl)
    COpenSSL_CTX_set_datagram_options(context)
    _ = COpenSSL_set_link_mtu(ssl, 1_200)
    let environment = VirtualEnvironment(.system)
    _ = environment.run(at: .zero) { SSL_do_handshake(ssl) }
    return environment.run(at: .zero + .milliseconds(400)) {
      var remaining = timeval()
      guard COpenSSL_get_timeout(ssl, &remaining) == 1 else { return nil }
      return .seconds(Int64(remaining.tv_sec)) + .microseconds(Int64(remaining.tv_usec))
    }
  }

  static let passOnce: Void = {
    let remaining = remainingAfter400Milliseconds()
    precondition(
      remaining == .milliseconds(600),
      """
      libssl does not read the virtual clock: 400 ms after a 1 s timer was set it reports \
      \(remaining.map(\.description) ?? "no timer") instead of 600ms. \
      The program must export CVirtualClock's gettimeofday.
      """)
  }()
}
