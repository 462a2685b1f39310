internal import CallCore
internal import DTLS

/// Writes what becomes of connections over TLS into the trace.
struct TLSTrace {
  private let trace: Trace
  private let subject: TraceSubject
  private let established: TraceKind
  private let failed: TraceKind

  init(_ trace: Trace, subject name: String) {
    self.trace = trace
    subject = trace.subject(name)
    established = trace.declare(
      "tls.established", TraceField("remote", .endpoint), TraceField("version", .symbol), TraceField("cipher", .symbol))
    failed = trace.declare("tls.failed", TraceField("remote", .endpoint), TraceField("reason", .symbol))
  }

  func established(_ connection: TLSConnection, with remote: Endpoint) {
    trace.write(
      established, subject, trace.value(remote), trace.value(connection.version?.rawValue ?? "none"),
      trace.value(connection.cipher ?? "none"))
  }

  func failed(_ failure: TLSFailure, with remote: Endpoint) {
    trace.write(failed, subject, trace.value(remote), trace.value("\(failure)"))
  }
}
