internal import COpenSSL
package import CallCore

/// One end of a TLS connection, sans-IO: it converts between bytes of the transport and whole messages.
///
/// Messages sent during the handshake wait for its end. After each call write the records of ``takeOutput()``, then
/// read ``state``: once the connection has ended, close the transport.
public final class TLSConnection {
  package enum State: Hashable, Sendable {
    case handshaking, established
    /// Either end sent close_notify.
    case closed
    case failed(TLSFailure)
  }

  package private(set) var state = State.handshaking
  /// NSS key log lines not yet taken, which decrypt the connection.
  private var keyLog: [String] = []
  private let ssl: OpaquePointer
  private let context: TLSContext
  private let environment: VirtualEnvironment
  private let input: OpaquePointer
  private let output: OpaquePointer
  private var waiting: [[UInt8]] = []
  private var hasReceived = false
  private var alerts = AlertRecord()

  /// Begins a client's handshake.
  ///
  /// - Parameters:
  ///   - serverName: the host of the server's URI; the certificate must be for it (RFC 9525). A DNS name is also sent
  ///     as SNI (RFC 6066 section 3).
  ///   - wallClock: the clock for the certificate's validity.
  package convenience init(
    client context: TLSContext, serverName: String, entropy: consuming Entropy, wallClock: WallClock, at now: Instant
  ) {
    precondition(!context.isServer, "a server's context makes no client")
    self.init(context, entropy)
    environment.run(at: now) {
      let parameters = SSL_get0_param(ssl)
      X509_VERIFY_PARAM_set_time(parameters, time_t(wallClock.unixSeconds(at: now)))
      // The common name of a certificate does not identify a server (RFC 9525 section 6.3).
      X509_VERIFY_PARAM_set_hostflags(
        parameters, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      let isTaken: Bool
      if IPAddress(serverName) != nil {
        isTaken = X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName) == 1
      } else {
        // Certificates and SNI do not contain the final dot of an absolute name.
        let name = serverName.hasSuffix(".") ? String(serverName.dropLast()) : serverName
        isTaken = SSL_set1_host(ssl, name) == 1 && COpenSSL_set_server_name(ssl, name) == 1
      }
      precondition(isTaken, "a certificate cannot be for '\(serverName)'")
      SSL_set_connect_state(ssl)
      var nothing: [UInt8] = []
      advance(&nothing)
    }
  }

  /// Waits for a client's handshake.
  package convenience init(server context: TLSContext, entropy: consuming Entropy) {
    precondition(context.isServer, "a client's context makes no server")
    self.init(context, entropy)
    SSL_set_accept_state(ssl)
  }

  private init(_ context: TLSContext, _ entropy: consuming Entropy) {
    VirtualClockCheck.passOnce
    guard let ssl = SSL_new(context.pointer), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
      fatalError("OpenSSL cannot make a connection")
    }
    self.ssl = ssl
    self.context = context
    self.input = input
    self.output = output
    environment = VirtualEnvironment(entropy)
    for bio in [input, output] { BIO_ctrl(bio, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil) }
    SSL_set_bio(ssl, input, output)
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { SSL_free(ssl) }

  // MARK: Bytes

  /// Takes bytes of the transport, and returns the decrypted application data.
  package func receive(_ bytes: RawSpan, at now: Instant) -> [UInt8] {
    guard isOpen, !bytes.isEmpty else { return [] }
    return environment.run(at: now) {
      var received: [UInt8] = []
      var offset = 0
      while offset < bytes.byteCount, isOpen {
        // No record's plaintext is larger. Each piece is read before the next is written.
        let piece = bytes.extracting(offset..<min(offset + 16_384, bytes.byteCount))
        offset += piece.byteCount
        let taken = piece.withUnsafeBytes { BIO_write(input, $0.baseAddress, Int32($0.count)) }
        precondition(Int(taken) == piece.byteCount, "OpenSSL's memory is full")
        if !hasReceived, piece.byte(at: 0).map({ !(20...23).contains($0) }) ?? false {
          refuseNoise()
          break
        }
        hasReceived = true
        advance(&received)
      }
      return received
    }
  }

  /// Encrypts a message, or queues it until the handshake is complete.
  package func send(_ message: RawSpan, at now: Instant) {
    guard isOpen, !message.isEmpty else { return }
    guard state == .established else {
      waiting.append(message.copied)
      return
    }
    environment.run(at: now) { write(message) }
  }

  /// Sends close_notify if the connection is established (RFC 8446 section 6.1).
  package func close(at now: Instant) {
    guard isOpen else { return }
    environment.run(at: now) {
      if state == .established { _ = SSL_shutdown(ssl) }
    }
    end(.closed)
  }

  /// Reports the end of the transport. Without a close_notify data may be missing, which TURN's framing would reveal.
  package func transportEnded() {
    guard isOpen else { return }
    end(state == .handshaking ? .failed(.handshakeCut) : .closed)
  }

  /// Returns the records to write to the transport, one per element.
  package func takeOutput() -> [[UInt8]] {
    let bytes = TLSBuffer.drain(output)
    var records: [[UInt8]] = []
    var start = 0
    while let length = bytes.span.bytes.bigEndian(UInt16.self, at: start + 3) {
      let end = min(start + 5 + Int(length), bytes.count)
      records.append(Array(bytes[start..<end]))
      start = end
    }
    return records
  }

  /// Returns the key log lines (NSS format) since the last call.
  package func takeKeyLog() -> [String] {
    defer { keyLog = [] }
    return keyLog
  }

  /// The size of the messages that wait for the end of the handshake, in bytes.
  package var waitingByteCount: Int { waiting.reduce(0) { $0 + $1.count } }

  // MARK: Negotiated parameters

  package var version: TLSVersion? {
    guard state == .established else { return nil }
    return TLSVersion.allCases.first { Int32($0.number) == SSL_version(ssl) }
  }

  /// The IANA name of the cipher suite.
  package var cipher: String? {
    guard state == .established, let cipher = SSL_get_current_cipher(ssl) else { return nil }
    return SSL_CIPHER_standard_name(cipher).map { String(cString: $0) }
  }

  /// The protocol that ALPN selected, or nil.
  package var applicationProtocol: String? {
    var (name, length): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
    SSL_get0_alpn_selected(ssl, &name, &length)
    guard let name, length > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
  }

  /// The server name that the client sent by SNI, or nil.
  package var requestedServerName: String? {
    SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
  }

  // MARK: Driving

  private var isOpen: Bool { state == .handshaking || state == .established }

  private func end(_ state: State) {
    self.state = state
    waiting = []
  }

  private func advance(_ received: inout [UInt8]) {
    if state == .handshaking {
      let result = SSL_do_handshake(ssl)
      guard result == 1 else { return judge(result) }
      state = .established
      let messages = waiting
      waiting = []
      for message in messages { write(message.span.bytes) }
    }
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { plain in
      while isOpen {
        let count = SSL_read(ssl, plain.baseAddress, Int32(plain.count))
        guard count > 0 else { return judge(count) }
        received.append(contentsOf: plain[..<Int(count)])
      }
    }
  }

  /// Makes libssl reject bytes that are not TLS, so that it writes its alert.
  private func refuseNoise() {
    _ = SSL_do_handshake(ssl)
    end(.failed(.notTLS))
  }

  private func write(_ message: RawSpan) {
    let count = message.withUnsafeBytes { SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
    if Int(count) != message.byteCount { judge(count) }
  }

  private func judge(_ result: Int32) {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
    case SSL_ERROR_ZERO_RETURN:
      // Respond to close_notify with another.
      _ = SSL_shutdown(ssl)
      return end(.closed)
    default: break
    }
    let verdict = SSL_get_verify_result(ssl)
    if !context.isServer, verdict != Int(X509_V_OK), SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE {
      return end(.failed(.certificate(TLSCertificateProblem(verdict))))
    }
    if let alert = alerts.received { return end(.failed(.alertReceived(alert))) }
    end(.failed(.protocolViolation(alerts.sent ?? .internalError)))
  }

  // MARK: Callbacks

  private static func of(_ ssl: OpaquePointer?) -> TLSConnection? {
    SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSConnection>.fromOpaque($0).takeUnretainedValue() }
  }

  static let infoCallback: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, event, value in
    TLSConnection.of(ssl)?.alerts.note(event, value)
  }

  static let keyLogCallback: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
    guard let connection = TLSConnection.of(ssl), let line else { return }
    connection.keyLog.append(String(cString: line))
  }
}

extension TLSCertificateProblem {
  /// Converts OpenSSL's verification result.
  fileprivate init(_ verdict: Int) {
    switch Int32(verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .wrongName
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
      X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
      self = .unknownIssuer
    default: self = .other(String(cString: X509_verify_cert_error_string(verdict)))
    }
  }
}

/// Functions for OpenSSL's memory BIOs.
enum TLSBuffer {
  /// Takes all bytes out of a BIO.
  static func drain(_ bio: OpaquePointer) -> [UInt8] {
    let count = BIO_ctrl_pending(bio)
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, Int(BIO_read(bio, buffer.baseAddress, Int32(count))))
    }
  }
}
