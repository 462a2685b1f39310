package import CallCore
package import PeerSession

/// The world outside a live connection: clock, timers and sockets. ``SocketLoop`` is that of the machine; tests script
/// another.
package protocol LiveWorld: AnyObject {
  var now: Instant { get }

  /// The addresses on which sockets may be opened now; none if they cannot be listed. Reading this may block, so do not
  /// use it during a call.
  var addresses: [InterfaceAddress] { get }

  /// Passes the addresses to `answer`, once and possibly later; nil if they cannot be listed.
  func listAddresses(_ answer: @escaping ([InterfaceAddress]?) -> Void)

  /// Creates a timer without a deadline. It lives until ``remove(_:)``.
  func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer
  func remove(_ timer: LoopTimer)

  /// - Parameter receive: gets each datagram with its path, on the world's thread.
  func openSocket(
    on address: InterfaceAddress, ports: ClosedRange<UInt16>, receive: @escaping (RawSpan, Path) -> Void
  ) throws(SystemError) -> any LiveSocket

  /// Opens a TCP connection. A failure is reported later, never within this call.
  func openStream(from address: InterfaceAddress, to remote: Endpoint) -> any ByteStream

  /// Asks the link for the address of a `.local` name. The answer comes later, once, or never.
  func resolve(multicastName name: String, _ answer: @escaping (IPAddress) -> Void)

  /// Answers queries for our `.local` name until it is withdrawn.
  func announce(multicastName name: String, of address: InterfaceAddress)
  func withdraw(multicastName name: String)
}

extension LiveWorld {
  package func listAddresses(_ answer: @escaping ([InterfaceAddress]?) -> Void) { answer(addresses) }

  /// Never answers: by default a world has no `.local` names.
  package func resolve(multicastName name: String, _ answer: @escaping (IPAddress) -> Void) {}
  package func announce(multicastName name: String, of address: InterfaceAddress) {}
  package func withdraw(multicastName name: String) {}
}

/// A UDP socket that is bound to one address.
package protocol LiveSocket: AnyObject {
  var local: Endpoint { get }

  /// Sends a datagram, or loses it, as a full link would.
  func send(_ datagram: RawSpan, to remote: Endpoint, ecn: ECN)
  func close()
}
