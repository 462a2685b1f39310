internal import CallCore
internal import PeerSession

/// A stream of the simulated network that carries whole messages, one per call: packet rules may drop one.
final class SimulatedByteStream: ByteStream {
  private(set) var isConnected: Bool
  var onConnect: (() -> Void)?
  var onBytes: ((RawSpan) -> Void)?
  var onEnd: (() -> Void)?
  private let stream: PeerStream

  /// - Parameter isConnected: True for a stream that a listener accepted.
  init(_ stream: PeerStream, isConnected: Bool) {
    self.stream = stream
    self.isConnected = isConnected
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  var unsentByteCount: Int { stream.queuedByteCount }

  func send(_ bytes: RawSpan) -> Bool { stream.send(message: bytes) }

  func close() {
    stream.onEvent = nil
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
