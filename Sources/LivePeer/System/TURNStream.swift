internal import TURN

/// A connection between a TURN client and its server: whole messages on a TCP stream.
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
  private let stream: any LiveStream
  private var framer = TURNStreamFramer()

  init(_ stream: any LiveStream) {
    self.stream = stream
    stream.onBytes = { [unowned self] bytes in receive(bytes) }
    stream.onEnd = { [unowned self] in onEnd?(.closed) }
  }

  func send(_ message: RawSpan) { stream.send(message) }

  func close() { stream.close() }

  private func receive(_ bytes: RawSpan) {
    guard !framer.receive(bytes, message: { onMessage?($0) }) else { return }
    stream.abort()
    onEnd?(.malformed)
  }
}
