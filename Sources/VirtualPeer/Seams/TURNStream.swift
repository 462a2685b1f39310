internal import CallCore
internal import TURN

/// A connection between a TURN client and its server: whole messages on a stream of the simulated network.
final class TURNStream {
  /// Why a connection ended that this side did not close.
  enum End {
    case closed
    /// The other side sent what is neither STUN nor ChannelData.
    case malformed
  }

  /// Gets every message; the bytes are lent for the duration of the call.
  var onMessage: ((RawSpan) -> Void)?
  var onEnd: ((End) -> Void)?
  private let stream: PeerStream
  private var framer = TURNStreamFramer()

  /// What an operating system holds for a socket that sends faster than the network takes it.
  private static let sendBuffer = 65_536

  init(_ stream: PeerStream) {
    self.stream = stream
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// Sends a message whole, or not at all when the buffer has no room for it: media must not wait for ever behind a
  /// network that has stopped. A packet rule of the scenario sees the message as it sees a datagram.
  ///
  /// - Returns: whether there was room.
  @discardableResult
  func send(_ message: RawSpan) -> Bool {
    guard stream.queuedByteCount + message.byteCount <= Self.sendBuffer else { return false }
    stream.send(message: message)
    return true
  }

  /// Ends the connection once everything is sent. Nothing is reported any more.
  func close() {
    fallSilent()
    stream.close()
  }

  /// Ends the connection with an RST. Nothing is reported any more.
  func abort() {
    fallSilent()
    stream.abort()
  }

  private func fallSilent() {
    onMessage = nil
    onEnd = nil
    stream.onEvent = nil
  }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected: break
    case .received(let bytes):
      guard !framer.receive(bytes.span.bytes, message: { onMessage?($0) }) else { return }
      let report = onEnd
      abort()
      report?(.malformed)
    case .closed:
      let report = onEnd
      fallSilent()
      report?(.closed)
    }
  }
}
