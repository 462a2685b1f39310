package import CallCore
internal import DTLS
internal import PeerSession
package import STUN
package import TURN

/// A TURN server on a simulated host; each relay is one of its sockets.
package final class TURNServerHost: SocketServerHost<TURNServer> {
  package static let port: UInt16 = 3_478

  /// The type of a Refresh request (RFC 8656 section 17).
  private static let refreshRequest: UInt16 = 0x0004

  private let trace: Trace
  private let subject: TraceSubject
  private let tlsTrace: TLSTrace
  private let keyLog: ((String) -> Void)?
  package private(set) var allocations: [Allocation] = []
  /// The path of the message that is being served.
  private var servedPath: Path?

  /// An allocation of a client: a relayed address, for the 5-tuple of `client` and `server`.
  package struct Allocation {
    package let relay: Endpoint
    package let client: Endpoint
    package let server: Endpoint
    package let isUDP: Bool
    package let username: String
    /// Whether a fault, and not the server itself, refused the last Refresh of the client, or told it by another answer
    /// that no Refresh can succeed.
    package internal(set) var isRefreshRefusedByFault = false
  }

  package init(
    configuration: TURNServer.Configuration, runtime: HostRuntime,
    listeners: [ServerListener] = [ServerListener(.udp, port: TURNServerHost.port)], tls: TLSListener? = nil,
    delay: Interval = .zero, random: consuming RandomStream, trace: Trace, name: String,
    keyLog: ((String) -> Void)? = nil
  ) {
    self.trace = trace
    subject = trace.subject(name)
    tlsTrace = TLSTrace(trace, subject: name)
    self.keyLog = keyLog
    super.init(
      machine: TURNServer(configuration: configuration, random: random), runtime: runtime, listeners: listeners,
      tls: tls, delay: delay)
  }

  override func handle(_ event: TURNServer.Event) {
    switch event {
    case .openRelay(let relay, let client, let username):
      trace.write(ServerEvents.relayOpened, subject, relay, client, username)
      // The server opens a relay only for the request that is being served.
      guard let path = servedPath else { return }
      allocations.append(
        Allocation(
          relay: relay, client: client, server: path.local, isUDP: path.transport == .udp, username: username))
      if open(relay) {
        machine.relayOpened(relay, at: runtime.clock.now)
      } else {
        machine.relayUnavailable(relay, at: runtime.clock.now)
      }
    case .closeRelay(let relay, _, let reason):
      trace.write(ServerEvents.relayClosed, subject, relay, reason.rawValue)
      allocations.removeAll { $0.relay == relay }
      close(relay)
    }
  }

  /// Serves a message. The server drops packets silently, so the trace gets the reason, the source and the destination.
  override func receive(_ message: RawSpan, on path: Path) {
    let before = machine.counters
    servedPath = path
    super.receive(message, on: path)
    let after = machine.counters
    let isGivenUp = after.finalRejections > before.finalRejections
    if isGivenUp || message.bigEndian(UInt16.self, at: 0) == Self.refreshRequest {
      let isRefused = isGivenUp || after.rejections[.refresh] != before.rejections[.refresh]
      for index in allocations.indices
      where allocations[index].client == path.remote && allocations[index].server == path.local {
        allocations[index].isRefreshRefusedByFault = isRefused
      }
    }
    let reasons = [
      ("no-permission", after.droppedWithoutPermission > before.droppedWithoutPermission),
      ("no-channel", after.droppedWithoutChannel > before.droppedWithoutChannel),
      ("no-allocation", after.droppedWithoutAllocation > before.droppedWithoutAllocation),
      ("too-large", after.droppedTooLarge > before.droppedTooLarge),
      ("malformed", after.malformed > before.malformed),
    ]
    for (reason, applies) in reasons where applies {
      trace.write(ServerEvents.relayDropped, subject, reason, path.remote, path.local, message.byteCount)
    }
  }

  override func streamEnded(_ path: Path, _ end: TURNStream.End) {
    if case .failed(let failure) = end { tlsTrace.failed(failure, with: path.remote) }
    machine.streamClosed(path, isMalformed: end == .malformed, at: runtime.clock.now)
  }

  override func streamSecured(_ path: Path, _ tls: TLSConnection) { tlsTrace.established(tls, with: path.remote) }

  override func learnt(keyLog line: String) { keyLog?(line) }

  // MARK: Faults

  /// The number of requests that ``rejectAll(_:with:)`` answered with an error, by method.
  package var rejectionCounts: [STUNMethod: UInt64] { machine.counters.rejections }

  /// The number of requests answered with 438 because of ``expireNonces()``.
  package var withdrawnNonceCount: Int { Int(machine.counters.withdrawnNonces) }

  /// The number of packets without a permission because of ``expirePermissions()``.
  package var missedPermissionCount: Int { Int(machine.counters.missedPermissions) }

  /// The number of packets without a channel because of ``expireChannels()``.
  package var missedChannelCount: Int { Int(machine.counters.missedChannels) }

  /// Discards all state, as a crash does; connections end.
  package func restart() {
    machine.restart(at: runtime.clock.now)
    resetStreams()
  }

  package func expireNonces() { machine.expireNonces() }

  /// Answers every request of these methods with an error from now on; nil ends it.
  package func rejectAll(_ methods: [STUNMethod], with error: STUNError?) {
    for method in methods { machine.setRejection(error, of: method) }
  }

  /// The permissions and the channel bindings that there are.
  package var grantCounts: (permissions: Int, channels: Int) { machine.grantCounts }

  package func expirePermissions() { machine.expirePermissions() }

  package func expireChannels() { machine.expireChannels() }
}
