public import CallCore
public import DTLS

/// All that a ``SessionDriver`` has of the world: sockets, connections, names and the time.
///
/// The simulator, the machine's own sockets, tests, benchmarks and fuzzers each are one. Most have no TCP, no `.local`
/// names and nothing to say of TLS: these requirements have defaults.
public protocol SessionEnvironment: AnyObject {
  /// A UDP socket that is bound to one address.
  associatedtype Socket

  /// The current time on a clock that never goes backwards.
  var now: Instant { get }
  /// What the date is believed to be, by which certificates of TLS are judged.
  var wallClock: WallClock { get }

  // MARK: Sockets

  /// Opens a UDP socket at one of our addresses.
  ///
  /// - Parameters:
  ///   - base: the socket that the new one stands beside; nil for the first on an address.
  ///   - receive: gets each datagram with the path it came on. It may not be called from within a call of the driver.
  /// - Returns: nil when none can be had.
  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: Socket, local: Endpoint)?
  /// Closes a UDP socket.
  func close(_ socket: Socket)
  /// Sends a datagram to `path.remote`, with the path's ECN marking where the socket can set it.
  func send(_ datagram: RawSpan, from socket: Socket, on path: Path)

  /// Opens a TCP connection for what is sent on `path`, whose transport says whether the driver will speak TLS on it. That
  /// it cannot be had is reported later.
  func openStream(on path: Path) -> (any ByteStream)?

  // MARK: Names

  /// Asks the link who has a `.local` name. The answer comes later, once, or never.
  func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void)

  /// A `.local` name to tell instead of an address on which a socket was opened, answered for until it is withdrawn.
  func conceal(_ address: IPAddress) -> String?
  /// Stops answering for a name that ``conceal(_:)`` has returned.
  func withdraw(_ name: String)

  // MARK: What happens

  /// Something for the application. It may not call the session from here: that comes in ``settled(_:)`` or later.
  func happened(_ event: SessionEvent)
  /// Something for whoever watches, which may be one packet of many.
  func observed(_ observation: SessionObservation)
  /// What the session wanted to send could not leave.
  func unsent(_ reason: UnsentReason)
  /// TLS stands on the connection to a server, or has given it up.
  func secured(_ tls: TLSConnection, with server: Endpoint)
  /// Reports that TLS on the connection to a server has failed.
  func refused(_ failure: TLSFailure, by server: Endpoint)

  /// Everything that was due has been done. The driver is to be woken (``SessionDriver/advance()``) at the deadline, if
  /// there is one; earlier does no harm.
  func settled(_ wake: Wake)
  /// The closed session has said all it had to say, and every socket is closed.
  func fellSilent()
}

/// Why something could not leave.
public enum UnsentReason: String, Sendable, CaseIterable {
  /// No socket is bound to the local address.
  case noSocket = "no-socket"
  /// No interface has the local address that a connection needs.
  case noInterface = "no-interface"
  /// Too much waits on the connection already.
  case noRoom = "no-room"
}

extension SessionEnvironment {
  public func openStream(on path: Path) -> (any ByteStream)? { nil }
  public func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void) {}
  public func conceal(_ address: IPAddress) -> String? { nil }
  public func withdraw(_ name: String) {}
  public func unsent(_ reason: UnsentReason) {}
  public func secured(_ tls: TLSConnection, with server: Endpoint) {}
  public func refused(_ failure: TLSFailure, by server: Endpoint) {}
  public func fellSilent() {}
}
