package import CallCore
package import CallSession

/// Everything outside a live connection: clock, timers and sockets. The machine's own is ``SocketLoop``; a test scripts
/// another.
package protocol LiveWorld: AnyObject {
  var now: Instant { get }

  /// The addresses that sockets may be opened on now, none when that cannot be said. To ask may take long: not for a
  /// call that is up.
  var addresses: [InterfaceAddress] { get }

  /// Tells the addresses, once; nil when that cannot be said. The answer may come later.
  func listAddresses(_ answer: @escaping ([InterfaceAddress]?) -> Void)

  /// A timer that is not set. It lives until ``remove(_:)``.
  func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer
  func remove(_ timer: LoopTimer)

  /// - Parameter receive: gets each datagram with the path it came on, on the world's thread.
  func openSocket(
    on address: InterfaceAddress, ports: ClosedRange<UInt16>, receive: @escaping (RawSpan, Path) -> Void
  ) throws(SystemError) -> any LiveSocket

  /// Opens a TCP connection. That it cannot be had is reported later, never from within this call.
  func openStream(from address: InterfaceAddress, to remote: Endpoint) -> any ByteStream

  /// Asks the link who has a `.local` name. The answer comes later, once, or never.
  func resolve(multicastName name: String, _ answer: @escaping (IPAddress) -> Void)

  /// Answers for a `.local` name of ours, until it is withdrawn.
  func announce(multicastName name: String, of address: InterfaceAddress)
  func withdraw(multicastName name: String)
}

extension LiveWorld {
  package func listAddresses(_ answer: @escaping ([InterfaceAddress]?) -> Void) { answer(addresses) }

  /// A world where nobody has such a name.
  package func resolve(multicastName name: String, _ answer: @escaping (IPAddress) -> Void) {}
  package func announce(multicastName name: String, of address: InterfaceAddress) {}
  package func withdraw(multicastName name: String) {}
}

/// A UDP socket that is bound to one address.
package protocol LiveSocket: AnyObject {
  var local: Endpoint { get }

  /// Sends a datagram, or loses it as a full link would.
  func send(_ datagram: RawSpan, to remote: Endpoint, ecn: ECN)
  func close()
}
