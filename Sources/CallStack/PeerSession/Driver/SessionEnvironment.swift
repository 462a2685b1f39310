public import CallCore
public import DTLS
public import SDP

/// The outside world of a ``SessionDriver``: sockets, connections, names and the time.
///
/// The simulator, the machine's own sockets, tests, benchmarks and fuzzers each implement it. Most have no TCP, no
/// `.local` names and no use for TLS events: these requirements have defaults.
public protocol SessionEnvironment: AnyObject {
  /// A UDP socket that is bound to one address.
  associatedtype Socket

  /// The current time on a clock that never goes backwards.
  var now: Instant { get }
  /// The date of this side, used to check the validity of TLS certificates.
  var wallClock: WallClock { get }

  // MARK: Sockets

  /// Opens a UDP socket on one of our addresses.
  ///
  /// - Parameters:
  ///   - base: the existing socket on the same address; nil for the first socket on an address.
  ///   - receive: the callback for each datagram and its path. It must not be called from within a call of the driver.
  /// - Returns: nil when no socket can be opened.
  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: Socket, local: Endpoint)?
  /// Closes a UDP socket.
  func close(_ socket: Socket)
  /// Sends a datagram to `path.remote`, with the path's ECN marking where the socket can set it.
  func send(_ datagram: RawSpan, from socket: Socket, on path: Path)

  /// Opens a TCP connection for `path`, whose transport says whether the driver will run TLS on it. A failure to
  /// connect is reported later.
  func openStream(on path: Path) -> (any ByteStream)?

  // MARK: Names

  /// Resolves a `.local` name on the link. The answer comes later, once, or never.
  func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void)

  /// Returns a `.local` name to announce instead of the address of a socket, and answers queries for it until it is
  /// withdrawn.
  func obfuscate(_ address: IPAddress) -> String?
  /// Stops answering queries for a name that ``obfuscate(_:)`` returned.
  func withdraw(_ name: String)

  // MARK: Events

  /// Reports an event for the application, which may not call the session from here, only in ``settled(_:)`` or later.
  func happened(_ event: SessionEvent)
  /// Reports an observation for traces and judges, possibly for every packet.
  func observed(_ observation: SessionObservation)
  /// Shows a picture of a remote track. Like an event, it may not call the session from here.
  func rendered(_ frame: RenderedVideoFrame)
  /// Hands over a packet for other connections to send on; only of a session that ``SessionConfiguration/forwards``.
  /// Like an event, it may not call the session from here.
  func received(_ packet: ForwardedPacket)
  /// Reports that the source of the track that a sender forwards must be asked for a key frame.
  func keyFrameNeeded(of sender: Transceiver.ID, encoding: Int)
  /// Reports that a datagram could not be sent.
  func unsent(_ reason: UnsentReason)
  /// Reports that TLS is established on the connection to a server, or was closed by it.
  func secured(_ tls: TLSConnection, with server: Endpoint)
  /// Reports that TLS on the connection to a server has failed.
  func refused(_ failure: TLSFailure, by server: Endpoint)

  /// Reports that all due work is done. The environment must call ``SessionDriver/advance()`` at the deadline, if there
  /// is one; an earlier call does no harm.
  func settled(_ wake: Wake)
  /// Reports that the closed session has sent its last messages, and every socket is closed.
  func fellSilent()
}

/// The reason why a datagram could not be sent.
public enum UnsentReason: String, Sendable, CaseIterable {
  /// No socket is bound to the local address.
  case noSocket = "no-socket"
  /// No interface has the local address that a connection needs.
  case noInterface = "no-interface"
  /// The queue of the connection is full.
  case noRoom = "no-room"
}

extension SessionEnvironment {
  public func openStream(on path: Path) -> (any ByteStream)? { nil }
  public func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void) {}
  public func obfuscate(_ address: IPAddress) -> String? { nil }
  public func withdraw(_ name: String) {}
  public func rendered(_ frame: RenderedVideoFrame) {}
  public func received(_ packet: ForwardedPacket) {}
  public func keyFrameNeeded(of sender: Transceiver.ID, encoding: Int) {}
  public func unsent(_ reason: UnsentReason) {}
  public func secured(_ tls: TLSConnection, with server: Endpoint) {}
  public func refused(_ failure: TLSFailure, by server: Endpoint) {}
  public func fellSilent() {}
}
