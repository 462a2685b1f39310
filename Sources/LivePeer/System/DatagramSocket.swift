internal import CLinux
internal import CallCore
internal import Glibc

/// A UDP socket on a ``SocketLoop``.
final class DatagramSocket: LiveSocket {
  let local: Endpoint
  private var descriptor: Int32
  private let scope: UInt32
  private unowned let loop: SocketLoop
  private let receive: (RawSpan, Path) -> Void

  /// The limit of datagrams in one turn, so that one busy socket cannot starve timers.
  private static let batch = 32

  init(
    on interface: InterfaceAddress, port: UInt16, loop: SocketLoop, receive: @escaping (RawSpan, Path) -> Void
  ) throws(SystemError) {
    let isIPv6 = interface.address.isIPv6
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let opened = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    let wanted = Endpoint(interface.address, port: port)
    guard opened >= 0 else { throw SystemError("open a UDP socket") }
    Self.setOption(opened, Int32(isIPv6 ? IPPROTO_IPV6 : IPPROTO_IP), isIPv6 ? IPV6_RECVTCLASS : IP_RECVTOS)
    if isIPv6 { Self.setOption(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
    Self.enlargeBuffer(of: opened)
    let address = SocketAddress()
    var length = address.set(wanted, scope: interface.index)
    guard bind(opened, address.pointer, length) == 0 else {
      let error = SystemError("bind \(wanted)")
      Glibc.close(opened)
      throw error
    }
    length = SocketAddress.capacity
    getsockname(opened, address.pointer, &length)
    local = address.endpoint ?? wanted
    descriptor = opened
    scope = interface.index
    self.loop = loop
    self.receive = receive
    loop.watch(opened, for: Int16(POLLIN)) { [unowned self] _ in drain() }
  }

  deinit { close() }

  /// The requested size of the receive buffer in bytes, for datagrams that arrive while the program does not run. The
  /// usual 208 KiB hold 256 audio packets. The system may allow less.
  private static let receiveBuffer: Int32 = 2 << 20

  private static func enlargeBuffer(of descriptor: Int32) {
    var size = receiveBuffer
    let length = socklen_t(MemoryLayout<Int32>.size)
    // A privileged process may exceed the system's limit.
    guard setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, length) != 0 else { return }
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
  }

  private static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, level, name, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  func close() {
    guard descriptor >= 0 else { return }
    loop.unwatch(descriptor)
    Glibc.close(descriptor)
    descriptor = -1
  }

  func send(_ datagram: RawSpan, to remote: Endpoint, ecn: ECN) {
    guard descriptor >= 0, remote.address.isIPv6 == local.address.isIPv6 else { return }
    let length = loop.datagrams.address.set(remote, scope: scope)
    datagram.withUnsafeBytes {
      loop.datagrams.send($0, from: descriptor, to: length, ecn: ecn, isIPv6: remote.address.isIPv6)
    }
  }

  private func drain() {
    for _ in 0..<Self.batch {
      // The socket may be closed from within its own callback.
      guard descriptor >= 0, let (length, path) = loop.datagrams.receive(from: descriptor, at: local) else { return }
      receive(loop.datagrams.datagram(length).bytes, path)
    }
  }
}
