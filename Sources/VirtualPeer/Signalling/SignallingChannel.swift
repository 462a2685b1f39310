/// The server's end of a connection that carries text frames.
protocol SignallingChannel: AnyObject {
  /// Called when the client has opened the connection.
  var onOpen: ((_ path: String) -> Void)? { get set }
  /// Called for each text frame.
  var onText: ((String) -> Void)? { get set }
  /// Called once, however the connection ended.
  var onClose: (() -> Void)? { get set }
  /// Called when one end closes and the silence keeps it from the other.
  var onHiddenClosing: (() -> Void)? { get set }
  /// Whether nothing leaves, and neither end notices the closing of the other.
  var isSilenced: Bool { get set }

  /// Sends a frame.
  ///
  /// - Returns: its identity, which the other end finds too; nil if it was not sent.
  func sendFrame(_ text: String) -> UInt64?

  /// Takes a frame that the faults have let pass, if it concerns the connection itself.
  func takes(_ text: String) -> Bool

  func close()

  func abort()
}

extension SignallingChannel {
  func takes(_ text: String) -> Bool { false }
}
