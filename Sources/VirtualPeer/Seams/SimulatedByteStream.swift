internal import CallCore
internal import PeerSession

/// A stream of the simulated network that carries whole messages, one per call: packet rules may drop one.
final class SimulatedByteStream: ByteStream {
  private(set) var isConnected: Bool
  var onConnect: (() -> Void)?
  var onBytes: ((RawSpan) -> Void)?
  var onEnd: (() -> Void)?
  /// Called when data arrives after this end has closed the stream.
  var onLateData: (() -> Void)?
  private let stream: PeerStream

  /// - Parameter isConnected: True for a stream that a listener accepted.
  init(_ stream: PeerStream, isConnected: Bool) {
    self.stream = stream
    self.isConnected = isConnected
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  var unsentByteCount: Int { stream.queuedByteCount }

  func send(_ bytes: RawSpan) -> Bool { stream.send(message: bytes) }

  /// Closes both directions. Data that arrives afterwards is lost, and resets the connection, so that the other end
  /// learns of it (RFC 9293 section 3.6.1).
  func close() {
    stream.onEvent = { [unowned stream, onLateData] event in
      guard case .received = event else { return }
      onLateData?()
      stream.abort()
    }
    stream.close()
  }

  func abort() { stream.abort() }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected:
      isConnected = true
      onConnect?()
    case .received(let bytes): onBytes?(bytes.span.bytes)
    case .closed:
      stream.onEvent = nil
      onEnd?()
    }
  }
}
