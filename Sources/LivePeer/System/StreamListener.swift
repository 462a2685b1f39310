internal import CLinux
internal import CallCore
internal import Glibc
internal import PeerSession

/// Accepts TCP connections at one address of the machine.
final class StreamListener {
  let local: Endpoint
  private let descriptor: Int32
  /// A strong reference to the loop: a server is released before its listeners and may hold the last other reference.
  private let loop: SocketLoop
  private let transport: Path.Transport
  private let accepted: (any ByteStream, Path) -> Void

  private static let backlog: Int32 = 1_024
  /// A timer that resumes listening after the process ran out of descriptors: without the pause, a waiting client would
  /// wake the loop again and again.
  private var pause = LoopTimer {}
  private static let pauseLength = Interval.milliseconds(200)

  init(
    at wanted: Endpoint, of interface: InterfaceAddress, transport: Path.Transport = .tcp, loop: SocketLoop,
    accepted: @escaping (any ByteStream, Path) -> Void
  ) throws(SystemError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let opened = socket(wanted.address.isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard opened >= 0 else { throw SystemError("open a TCP socket") }
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if wanted.address.isIPv6 { setsockopt(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
    let address = SocketAddress()
    let length = address.set(wanted, scope: interface.index)
    guard bind(opened, address.pointer, length) == 0, listen(opened, Self.backlog) == 0 else {
      let error = SystemError("listen on TCP \(wanted)")
      Glibc.close(opened)
      throw error
    }
    // The kernel has chosen the port if 0 was requested.
    var nameLength = SocketAddress.capacity
    let isNamed = wanted.port == 0 && getsockname(opened, address.pointer, &nameLength) == 0
    local = isNamed ? Endpoint(wanted.address, port: address.endpoint?.port ?? 0) : wanted
    descriptor = opened
    self.loop = loop
    self.transport = transport
    self.accepted = accepted
    loop.watch(opened, for: Int16(POLLIN)) { [unowned self] _ in drain() }
    pause = loop.makeTimer { [unowned self] in self.loop.rewatch(descriptor, for: Int16(POLLIN)) }
  }

  deinit {
    loop.remove(pause)
    loop.unwatch(descriptor)
    Glibc.close(descriptor)
  }

  private func drain() {
    let address = SocketAddress()
    while true {
      var length = SocketAddress.capacity
      let kind = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      let connection = accept4(descriptor, address.pointer, &length, kind)
      guard connection >= 0 else {
        if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
          loop.rewatch(descriptor, for: 0)
          pause.deadline = loop.now + Self.pauseLength
        }
        return
      }
      guard let remote = address.endpoint else {
        Glibc.close(connection)
        continue
      }
      accepted(StreamSocket(accepted: connection, loop: loop), Path(local: local, remote: remote, transport: transport))
    }
  }
}
