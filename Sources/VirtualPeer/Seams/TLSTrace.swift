internal import CallCore
internal import DTLS

/// Writes the results of TLS handshakes into the trace.
struct TLSTrace {
  private let trace: Trace
  private let subject: TraceSubject

  init(_ trace: Trace, subject name: String) {
    self.trace = trace
    subject = trace.subject(name)
  }

  func established(_ connection: TLSConnection, with remote: Endpoint) {
    trace.write(
      PeerConnectionEvents.tlsEstablished, subject, remote, connection.version?.rawValue ?? "none",
      connection.cipher ?? "none")
  }

  func failed(_ failure: TLSFailure, with remote: Endpoint) {
    trace.write(PeerConnectionEvents.tlsFailed, subject, remote, "\(failure)")
  }
}
