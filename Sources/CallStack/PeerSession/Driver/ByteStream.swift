/// A TCP connection provided by an environment.
public protocol ByteStream: AnyObject {
  /// Whether the connection is established, or was.
  var isConnected: Bool { get }
  /// Whether the environment itself runs TLS on the connection, so that the driver does not.
  var isSecured: Bool { get }
  /// The callback for establishment; called once, unless ``isConnected`` is true from the start.
  var onConnect: (() -> Void)? { get set }
  /// The callback for received bytes, which are lent for the duration of the call.
  var onBytes: ((RawSpan) -> Void)? { get set }
  /// The callback for failure or remote close; called once, never from within a call to the stream.
  var onEnd: (() -> Void)? { get set }
  /// The number of bytes not yet accepted by the network.
  var unsentByteCount: Int { get }

  /// Sends all of the bytes after those that are queued. The sender must check the queue length first.
  ///
  /// - Returns: false when the network has dropped this piece and accepts no later one.
  @discardableResult
  func send(_ bytes: RawSpan) -> Bool

  /// Ends the connection once everything is sent. No callback follows.
  func close()

  /// Ends the connection immediately. No callback follows.
  func abort()
}

extension ByteStream {
  public var isSecured: Bool { false }
}
