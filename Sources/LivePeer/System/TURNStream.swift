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
    stream.onEnd = { [unowned self] in end(.closed) }
  }

  func send(_ message: RawSpan) { stream.send(message) }

  /// Ends the connection once everything is sent. Nothing is reported any more, not even what has arrived already.
  func close() {
    fallSilent()
    stream.close()
  }

  private func fallSilent() {
    onMessage = nil
    onEnd = nil
  }

  private func receive(_ bytes: RawSpan) {
    guard !framer.receive(bytes, message: { onMessage?($0) }) else { return }
    stream.abort()
    end(.malformed)
  }

  private func end(_ end: End) {
    let report = onEnd
    fallSilent()
    report?(end)
  }
}
