internal import CLinux
internal import CallCore
internal import Glibc

/// A UDP socket on the port of multicast DNS, in its group on every interface; other programs may hold theirs beside it.
final class MulticastSocket {
  private static let port: UInt16 = 5_353
  /// RFC 6762 section 17.
  private static let longestMessage = 9_000

  private let descriptor: Int32
  private let group: Endpoint
  private let interfaces: [UInt32]
  private let address = SocketAddress()
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: longestMessage, alignment: 8)
  private unowned let loop: SocketLoop
  private let receive: (RawSpan) -> Void

  /// Nil when no interface has an address of this family, or the port cannot be shared.
  init?(isIPv6: Bool, loop: SocketLoop, receive: @escaping (RawSpan) -> Void) {
    var interfaces: [UInt32] = []
    for entry in loop.addresses where entry.address.isIPv6 == isIPv6 && !entry.address.isLoopback {
      if !interfaces.contains(entry.index) { interfaces.append(entry.index) }
    }
    let any = Endpoint(isIPv6 ? IPAddress(v6: 0, 0) : .anyIPv4, port: Self.port)
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let opened = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard opened >= 0 else { return nil }
    descriptor = opened
    group = Endpoint(
      isIPv6 ? IPAddress(v6: 0xFF02_0000_0000_0000, 0xFB) : IPAddress(v4: 0xE000_00FB), port: Self.port)
    self.interfaces = interfaces
    self.loop = loop
    self.receive = receive
    Self.set(opened, SOL_SOCKET, SO_REUSEADDR, Int32(1))
    Self.set(opened, SOL_SOCKET, SO_REUSEPORT, Int32(1))
    if isIPv6 {
      Self.set(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY, Int32(1))
      Self.set(opened, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, Int32(255))
    } else {
      Self.set(opened, Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(255))
    }
    let isBound = bind(opened, address.pointer, address.set(any, scope: 0)) == 0
    guard isBound, interfaces.contains(where: { join(on: $0) }) else {
      // Everything is initialised, so deinit runs and frees the buffer.
      Glibc.close(opened)
      return nil
    }
    loop.watch(opened, for: Int16(POLLIN)) { [unowned self] _ in drain() }
  }

  deinit { buffer.deallocate() }

  func close() {
    loop.unwatch(descriptor)
    Glibc.close(descriptor)
  }

  /// Sends a message to the group on every interface.
  func send(_ message: [UInt8]) {
    for interface in interfaces {
      choose(interface)
      let length = address.set(group, scope: interface)
      _ = sendto(descriptor, message, message.count, 0, address.pointer, length)
    }
  }

  private func drain() {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      guard count > 0 else { return }
      receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
    }
  }

  // MARK: Options

  private func join(on interface: UInt32) -> Bool {
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

  private func choose(_ interface: UInt32) {
    if group.address.isIPv6 {
      Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, interface)
    } else {
      Self.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, membership(on: interface))
    }
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
