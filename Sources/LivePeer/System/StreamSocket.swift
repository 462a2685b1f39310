internal import CLinux
internal import CallCore
internal import Glibc
internal import PeerSession

/// A TCP connection on a ``SocketLoop``, opened from one of this machine's addresses or accepted at one.
final class StreamSocket: ByteStream {
  var onConnect: (() -> Void)?
  var onBytes: ((RawSpan) -> Void)?
  var onEnd: (() -> Void)?

  private var descriptor: Int32 = -1
  private unowned let loop: SocketLoop
  private(set) var isConnected = false
  private var closesWhenSent = false
  /// The bytes that wait for the connection, or for room in the kernel's buffer.
  private var unsent: [UInt8] = []
  /// A timer that ends a connection that could not be opened, or whose last bytes are not accepted. Other connections
  /// have none, because the loop visits every timer.
  private var timer: LoopTimer?

  private static let closingPatience = Interval.seconds(1)

  init(from interface: InterfaceAddress, to remote: Endpoint, loop: SocketLoop) {
    self.loop = loop
    guard open(from: interface, to: remote) else {
      endLater(at: loop.now)
      return
    }
    loop.watch(descriptor, for: Int16(POLLOUT)) { [self] events in ready(events) }
  }

  /// Takes over a connection that a listener accepted.
  init(accepted descriptor: Int32, loop: SocketLoop) {
    self.loop = loop
    self.descriptor = descriptor
    isConnected = true
    Self.sendAtOnce(descriptor)
    loop.watch(descriptor, for: Int16(POLLIN)) { [self] events in ready(events) }
  }

  /// Disables Nagle's algorithm (RFC 9293 section 3.7.4): TURN messages must not wait for an acknowledgment.
  private static func sendAtOnce(_ descriptor: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private func open(from interface: InterfaceAddress, to remote: Endpoint) -> Bool {
    let isIPv6 = remote.address.isIPv6
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
    guard descriptor >= 0 else { return false }
    Self.sendAtOnce(descriptor)
    let address = SocketAddress()
    let localLength = address.set(Endpoint(interface.address, port: 0), scope: interface.index)
    guard bind(descriptor, address.pointer, localLength) == 0 else { return shut() }
    let remoteLength = address.set(remote, scope: interface.index)
    guard connect(descriptor, address.pointer, remoteLength) == 0 || errno == EINPROGRESS else { return shut() }
    return true
  }

  private func shut() -> Bool {
    Glibc.close(descriptor)
    descriptor = -1
    return false
  }

  // MARK: Out

  var unsentByteCount: Int { unsent.count }

  func send(_ bytes: RawSpan) -> Bool {
    guard !closesWhenSent, descriptor >= 0 else { return true }
    var sent = 0
    if isConnected, unsent.isEmpty {
      sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      // The next read reports an error.
      sent = max(0, sent)
    }
    guard sent < bytes.byteCount else { return true }
    bytes.withUnsafeBytes { unsent.append(contentsOf: $0[sent...]) }
    if isConnected { watchOutput() }
    return true
  }

  func close() {
    fallSilent()
    guard descriptor >= 0 else { return finish() }
    if unsent.isEmpty {
      finish()
    } else {
      closesWhenSent = true
      endLater(at: loop.now + Self.closingPatience)
    }
  }

  private func endLater(at deadline: Instant) {
    let timer = loop.makeTimer { [unowned self] in end() }
    timer.deadline = deadline
    self.timer = timer
  }

  func abort() {
    fallSilent()
    unsent.removeAll()
    finish()
  }

  private func fallSilent() {
    onConnect = nil
    onBytes = nil
    onEnd = nil
  }

  private func watchOutput() {
    loop.rewatch(descriptor, for: Int16(unsent.isEmpty ? POLLIN : POLLIN | POLLOUT))
  }

  private func flush() {
    guard !unsent.isEmpty else { return }
    let sent = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if sent > 0 { unsent.removeFirst(sent) }
    watchOutput()
    if unsent.isEmpty, closesWhenSent { finish() }
  }

  // MARK: In

  private func ready(_ events: Int16) {
    if !isConnected {
      var error: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
      guard error == 0 else { return end() }
      isConnected = true
      watchOutput()
      onConnect?()
      onConnect = nil
    }
    if events & Int16(POLLOUT) != 0 { flush() }
    if events & Int16(POLLIN | POLLHUP | POLLERR) != 0, descriptor >= 0 { read() }
  }

  private func read() {
    switch loop.datagrams.receive(from: descriptor) {
    case .bytes(let length): onBytes?(loop.datagrams.datagram(length).bytes)
    case .end: end()
    case .nothing: break
    }
  }

  private func end() {
    let report = onEnd
    fallSilent()
    finish()
    report?()
  }

  private func finish() {
    if let timer { loop.remove(timer) }
    timer = nil
    guard descriptor >= 0 else { return }
    let closing = descriptor
    descriptor = -1
    // The watch keeps this object alive. It is removed before the close: another thread may then reuse the number.
    withExtendedLifetime(self) {
      loop.unwatch(closing)
      _ = Glibc.close(closing)
    }
  }
}
