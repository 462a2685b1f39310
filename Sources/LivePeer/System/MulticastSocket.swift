internal import CLinux
internal import CallCore
internal import Glibc

/// A UDP socket on the port of multicast DNS, a member of its group on each joined interface. Other programs may share
/// the port.
final class MulticastSocket {
  /// The limit of a message in bytes (RFC 6762 section 17).
  private static let longestMessage = 9_000
  /// The limit of messages in one turn, so that a flood cannot starve a call.
  static let batch = 32

  private let descriptor: Int32
  private let group: Endpoint
  /// The interfaces on which the socket has joined the group.
  private(set) var interfaces: [UInt32] = []
  private let address = SocketAddress()
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: longestMessage, alignment: 8)
  private unowned let loop: SocketLoop
  private let receive: (RawSpan, Endpoint) -> Void

  /// Returns a socket for each address family that can join its group on the interfaces of these addresses.
  static func both(
    on addresses: [InterfaceAddress], loop: SocketLoop, receive: @escaping (RawSpan, Endpoint) -> Void
  ) -> [MulticastSocket] {
    [false, true].compactMap { isIPv6 in
      guard let socket = MulticastSocket(isIPv6: isIPv6, loop: loop, receive: receive) else { return nil }
      for entry in addresses where entry.address.isIPv6 == isIPv6 && !entry.address.isLoopback {
        socket.join(on: entry.index)
      }
      if socket.interfaces.isEmpty {
        socket.close()
        return nil
      }
      return socket
    }
  }

  /// Fails if the port cannot be shared.
  init?(isIPv6: Bool, loop: SocketLoop, receive: @escaping (RawSpan, Endpoint) -> Void) {
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let opened = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    descriptor = opened
    group = Endpoint(
      isIPv6 ? IPAddress(v6: 0xFF02_0000_0000_0000, 0xFB) : IPAddress(v4: 0xE000_00FB), port: MulticastDNSMessage.port)
    self.loop = loop
    self.receive = receive
    // Everything is initialised, so deinit runs and frees the buffer.
    guard opened >= 0 else { return nil }
    Self.set(opened, SOL_SOCKET, SO_REUSEADDR, Int32(1))
    Self.set(opened, SOL_SOCKET, SO_REUSEPORT, Int32(1))
    if isIPv6 {
      Self.set(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY, Int32(1))
      Self.set(opened, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, Int32(255))
    } else {
      Self.set(opened, Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(255))
    }
    // A socket that is bound to the group hears only the group. In IPv6 it would hear one interface only.
    let local = isIPv6 ? Endpoint(.anyIPv6, port: MulticastDNSMessage.port) : group
    guard bind(opened, address.pointer, address.set(local, scope: 0)) == 0 else {
      Glibc.close(opened)
      return nil
    }
    loop.watch(opened, for: Int16(POLLIN)) { [unowned self] _ in drain() }
  }

  deinit { buffer.deallocate() }

  var isIPv6: Bool { group.address.isIPv6 }

  func close() {
    loop.unwatch(descriptor)
    Glibc.close(descriptor)
  }

  /// Sends a message to the group on every interface.
  func send(_ message: [UInt8]) { for interface in interfaces { send(message, on: interface) } }

  func send(_ message: [UInt8], on interface: UInt32) {
    guard interfaces.contains(interface), choose(interface) else { return }
    let length = address.set(group, scope: interface)
    _ = sendto(descriptor, message, message.count, 0, address.pointer, length)
  }

  func send(_ message: [UInt8], to host: Endpoint) {
    guard host.address.isIPv6 == group.address.isIPv6 else { return }
    _ = sendto(descriptor, message, message.count, 0, address.pointer, address.set(host, scope: 0))
  }

  private func drain() {
    for _ in 0..<Self.batch {
      var length = SocketAddress.capacity
      let count = recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, address.pointer, &length)
      guard count > 0, let source = address.endpoint else { return }
      receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes, source)
    }
  }

  // MARK: Options

  /// Joins the group on an interface; if that fails, nothing is sent or received there.
  func join(on interface: UInt32) {
    if !interfaces.contains(interface), enter(on: interface) { interfaces.append(interface) }
  }

  private func enter(on interface: UInt32) -> Bool {
    guard group.address.isIPv6 else {
      return Self.set(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, membership(on: interface))
    }
    var request = ipv6_mreq()
    request.ipv6mr_multiaddr = in6_addr()
    withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) {
      $0.storeBytes(of: group.address.high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: group.address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    request.ipv6mr_interface = interface
    return Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, request)
  }

  /// Selects the interface for sending. Returns false if it is gone: messages would leave by the previous one.
  private func choose(_ interface: UInt32) -> Bool {
    group.address.isIPv6
      ? Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, interface)
      : Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, membership(on: interface))
  }

  private func membership(on interface: UInt32) -> ip_mreqn {
    var request = ip_mreqn()
    request.imr_multiaddr.s_addr = group.address.v4Bits.bigEndian
    request.imr_ifindex = Int32(bitPattern: interface)
    return request
  }

  @discardableResult
  private static func set<Value>(
    _ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Value
  ) -> Bool {
    withUnsafeBytes(of: value) { setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count)) == 0 }
  }
}
