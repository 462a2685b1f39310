internal import COpenSSL
internal import CallCore
internal import SRTP

/// One `SSL` object and the state of its callbacks: the mechanism of ``DTLSTransport``, which makes the decisions.
final class Connection {
  enum Progress {
    case pending
    case established
    case closed
    case failed(DTLSFailure)
  }

  private let ssl: OpaquePointer
  private let environment: VirtualEnvironment
  private let fingerprints: [Fingerprint]
  private let role: DTLSRole

  var exchange = DatagramExchange()
  /// The first retransmission timer of a flight; it doubles from there.
  var initialTimeout: Interval
  /// NSS key log lines not yet collected; empty unless ``logsKeys``.
  var keyLog: [String] = []
  private let logsKeys: Bool
  let maximumDatagramSize: Int

  private(set) var retransmissions = 0
  private(set) var applicationBytes = 0
  /// The application data of received records, one element for each; collected only if ``keepsApplicationData``.
  var applicationData: [[UInt8]] = []
  var keepsApplicationData = false
  private var refusal: DTLSFailure?
  private var alerts = AlertRecord()

  init(
    certificate: Certificate, context: Context, environment: VirtualEnvironment, role: DTLSRole,
    fingerprints: [Fingerprint], configuration: DTLSTransport.Configuration, initialTimeout: Interval
  ) {
    guard let ssl = SSL_new(context.pointer) else { fatalError("OpenSSL cannot make a connection") }
    let isIdentified =
      SSL_use_certificate(ssl, certificate.x509) == 1 && SSL_use_PrivateKey(ssl, certificate.privateKey) == 1
    precondition(isIdentified, "OpenSSL refuses a certificate that it made")
    self.ssl = ssl
    self.environment = environment
    self.role = role
    self.fingerprints = fingerprints
    self.initialTimeout = initialTimeout
    logsKeys = configuration.logsKeys
    maximumDatagramSize = min(max(configuration.maximumDatagramSize, 256), CallCore.maximumDatagramSize)
    let bio = DatagramBIO.make(for: self)
    SSL_set_bio(ssl, bio, bio)
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    // The BIO reports no overhead, so libssl's "link MTU" is the maximum datagram size here.
    let accepted = COpenSSL_set_link_mtu(ssl, maximumDatagramSize)
    precondition(accepted != 0, "OpenSSL refuses datagrams of \(maximumDatagramSize) bytes")
    DTLS_set_timer_cb(ssl) { ssl, current in Connection.of(ssl)?.nextTimeout(after: current) ?? 1_000_000 }
    switch role {
    case .client: SSL_set_connect_state(ssl)
    case .server: SSL_set_accept_state(ssl)
    }
  }

  deinit { SSL_free(ssl) }

  // MARK: Driving

  /// Begins or continues the handshake, or reads later records.
  func receive(_ datagram: RawSpan?, at now: Instant) -> Progress {
    environment.run(at: now) {
      guard let datagram else { return advance() }
      return datagram.withUnsafeBytes { bytes in
        exchange.incoming = bytes
        defer { exchange.incoming = nil }
        return advance()
      }
    }
  }

  /// Lets libssl retransmit its flight. Call this when ``timeRemaining(at:)`` has run out.
  func timerExpired(at now: Instant) -> Progress {
    environment.run(at: now) { COpenSSL_handle_timeout(ssl) < 0 ? outcome(of: -1) : .pending }
  }

  /// Sends close_notify if the connection is established.
  func close(at now: Instant) {
    environment.run(at: now) {
      if SSL_is_init_finished(ssl) == 1 { _ = SSL_shutdown(ssl) }
    }
  }

  /// Sends application data in a record of its own.
  ///
  /// - Returns: whether the connection took it.
  func send(_ data: RawSpan, at now: Instant) -> Bool {
    environment.run(at: now) {
      data.withUnsafeBytes { bytes in
        guard SSL_is_init_finished(ssl) == 1, !bytes.isEmpty else { return false }
        return SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count)) > 0
      }
    }
  }

  /// Returns the time until libssl's timer expires, or nil when it is off. libssl rounds the last 15 ms down to zero.
  func timeRemaining(at now: Instant) -> Interval? {
    environment.run(at: now) {
      var remaining = timeval()
      guard COpenSSL_get_timeout(ssl, &remaining) == 1 else { return nil }
      return .seconds(Int64(remaining.tv_sec)) + .microseconds(Int64(remaining.tv_usec))
    }
  }

  /// The shortest record of an AES-GCM suite: explicit nonce and tag (RFC 5288 section 3).
  static let shortestProtectedRecord = 8 + 16

  /// The shortest record to pass to libssl. Some versions close the connection on an encrypted record that is too short
  /// for the suite instead of dropping it (RFC 6347 section 4.1.2.7), and an attacker on the path could send one.
  var shortestProtectedRecord: Int {
    // A ChaCha20-Poly1305 record has no nonce (RFC 7905 section 2), and its alerts are 18 bytes long.
    let cipher = SSL_get_current_cipher(ssl).map { SSL_CIPHER_get_cipher_nid($0) }
    return cipher == NID_chacha20_poly1305 ? 16 : Self.shortestProtectedRecord
  }

  private func advance() -> Progress {
    if SSL_is_init_finished(ssl) == 0 {
      let result = SSL_do_handshake(ssl)
      guard result == 1 else { return outcome(of: result) }
    }
    // Reading also responds to a retransmitted last flight of the peer.
    while true {
      let count = withUnsafeTemporaryAllocation(byteCount: 2_048, alignment: 1) { scratch in
        let count = SSL_read(ssl, scratch.baseAddress, Int32(scratch.count))
        if keepsApplicationData, count > 0 {
          applicationData.append([UInt8](UnsafeRawBufferPointer(rebasing: scratch[..<Int(count)])))
        }
        return count
      }
      guard count > 0 else {
        let progress = outcome(of: count)
        if case .pending = progress { return .established }
        return progress
      }
      applicationBytes += Int(count)
    }
  }

  private func outcome(of result: Int32) -> Progress {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .pending
    case SSL_ERROR_ZERO_RETURN: return .closed
    default: break
    }
    if let refusal { return .failed(refusal) }
    if let alert = alerts.received { return .failed(.alertReceived(alert)) }
    if COpenSSL_error_reason(ERR_peek_error()) == SSL_R_READ_TIMEOUT_EXPIRED { return .failed(.handshakeTimeout) }
    return .failed(.protocolViolation(alerts.sent ?? .internalError))
  }

  // MARK: Results

  /// Returns the result of the handshake, or nil if no SRTP profile was negotiated.
  func makeSession(at now: Instant) -> DTLSSession? {
    environment.run(at: now) {
      guard let profile = selectedProfile, let exported = export(length: SRTPKeys.exportLength(for: profile)),
        let keys = SRTPKeys(profile: profile, exported: exported, isClient: role == .client),
        let remote = SSL_get0_peer_certificate(ssl)
      else { return nil }
      let cipher = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) }
      return DTLSSession(
        srtpKeys: keys, cipher: cipher ?? "", version: String(SSL_version(ssl), radix: 16, uppercase: true),
        remoteCertificate: Certificate.der(of: remote))
    }
  }

  private var selectedProfile: SRTPProfile? {
    SSL_get_selected_srtp_profile(ssl).flatMap { SRTPProfile(identifier: UInt16(truncatingIfNeeded: $0.pointee.id)) }
  }

  /// Exports keying material (RFC 5764 section 4.2) with a label and no context.
  private func export(length: Int) -> [UInt8]? {
    let label = "EXTRACTOR-dtls_srtp"
    var material = [UInt8](repeating: 0, count: length)
    let status = SSL_export_keying_material(ssl, &material, length, label, label.utf8.count, nil, 0, 0)
    return status == 1 ? material : nil
  }

  // MARK: Callbacks

  private static func of(_ ssl: OpaquePointer?) -> Connection? {
    SSL_get_ex_data(ssl, 0).map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Returns the next timeout in microseconds; `current` is 0 when a flight is sent for the first time (RFC 6347
  /// section 4.2.4.1).
  private func nextTimeout(after current: UInt32) -> UInt32 {
    guard current > 0 else { return UInt32(clamping: initialTimeout.nanoseconds / 1_000) }
    retransmissions += 1
    return min(current.multipliedReportingOverflow(by: 2).partialValue, 60_000_000)
  }

  /// Verifies the remote certificate by fingerprint, after both hellos have negotiated the SRTP profile.
  static let verifyCallback: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
    let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    guard let connection = Connection.of(ssl.map { OpaquePointer($0) }),
      let certificate = X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    connection.refusal = connection.judge(certificate)
    switch connection.refusal {
    case nil:
      X509_STORE_CTX_set_error(store, X509_V_OK)
      return 1
    case .noCommonSRTPProfile:
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)  // handshake_failure
    default:
      X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)  // bad_certificate
    }
    return 0
  }

  private func judge(_ certificate: OpaquePointer) -> DTLSFailure? {
    guard selectedProfile != nil else { return .noCommonSRTPProfile }
    // Several lines may describe several certificates, so one match is enough (RFC 8122 section 5).
    let matches = fingerprints.contains { Fingerprint(of: certificate, $0.function) == $0 }
    return matches || Defect.fingerprintNotCompared.isPlanted ? nil : .fingerprintMismatch
  }

  static let infoCallback: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, event, value in
    Connection.of(ssl)?.alerts.note(event, value)
  }

  static let keyLogCallback: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
    guard let connection = Connection.of(ssl), connection.logsKeys, let line else { return }
    connection.keyLog.append(String(cString: line))
  }
}
