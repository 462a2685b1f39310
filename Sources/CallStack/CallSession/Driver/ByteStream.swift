/// A TCP connection, as an environment has it.
public protocol ByteStream: AnyObject {
  /// Whether the connection stands, or has stood.
  var isConnected: Bool { get }
  /// Whether the environment speaks TLS on it where that is wanted, so that the driver does not.
  var isSecured: Bool { get }
  /// Called once when it is established, unless ``isConnected`` from the beginning.
  var onConnect: (() -> Void)? { get set }
  /// Gets what arrives; the bytes are lent for the duration of the call.
  var onBytes: ((RawSpan) -> Void)? { get set }
  /// Called once when the connection failed or the other side closed it, never from within a call.
  var onEnd: (() -> Void)? { get set }
  /// Bytes that the network has not taken yet.
  var unsentByteCount: Int { get }

  /// Sends all of the bytes, after those that wait. Whether that is too much, the sender must ask first.
  ///
  /// - Returns: false when the network takes nothing more of what is sent in one piece, as of this piece.
  @discardableResult
  func send(_ bytes: RawSpan) -> Bool

  /// Ends the connection once everything is sent. Nothing is reported any more.
  func close()

  /// Ends the connection now. Nothing is reported any more.
  func abort()
}

extension ByteStream {
  public var isSecured: Bool { false }
}
