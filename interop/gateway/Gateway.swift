import CallCore
import LibC
import SimNet
import VirtualPeer

/// Joins TCP connections of this machine with streams of a simulated network, at the pace of the machine's clock.
final class Gateway {
  private let simulator: Simulator
  private let network: PeerNetwork
  private var listener: Int32?
  private var links: [Link] = []
  /// Called for each line of standard input.
  var onLine: ((String) -> Void)?
  private var line: [UInt8] = []
  private let began = Gateway.now

  /// A connection of this machine and its stream.
  private final class Link {
    let descriptor: Int32
    let stream: PeerStream
    /// What waits for room in the kernel's buffer.
    var unsent: [UInt8] = []
    var closesWhenSent = false
    var isOver = false

    init(_ descriptor: Int32, _ stream: PeerStream) { (self.descriptor, self.stream) = (descriptor, stream) }
  }

  init(_ simulator: Simulator, _ network: PeerNetwork) {
    self.simulator = simulator
    self.network = network
    signal(SIGPIPE, SIG_IGN)
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func withAddress<R>(
    _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
  ) -> R {
    var address = loopback(port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// Accepts connections at a port of the loopback interface, and leads each to a server of the simulation.
  ///
  /// - Returns: The port, which the system chooses for 0.
  func listen(port: UInt16, to server: Endpoint) -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard Self.withAddress(port, { bind(descriptor, $0, $1) }) == 0, LibC.listen(descriptor, 64) == 0 else {
      fatalError("cannot listen on 127.0.0.1:\(port)")
    }
    listener = descriptor
    self.server = server
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  private var server: Endpoint?

  /// Leads a stream of the simulation to a port of this machine's loopback interface.
  func lead(_ stream: PeerStream, to port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard Self.withAddress(port, { connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      return stream.abort()
    }
    join(descriptor, stream)
  }

  private func join(_ descriptor: Int32, _ stream: PeerStream) {
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    let link = Link(descriptor, stream)
    links.append(link)
    stream.onEvent = { [unowned self, unowned link] event in
      switch event {
      case .connected: break
      case .received(let bytes):
        link.unsent += bytes
        flush(link)
      case .closed:
        link.closesWhenSent = true
        flush(link)
      }
    }
  }

  private func flush(_ link: Link) {
    guard !link.isOver else { return }
    while !link.unsent.isEmpty {
      let count = send(link.descriptor, link.unsent, link.unsent.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { break }
      link.unsent.removeFirst(count)
    }
    if link.unsent.isEmpty, link.closesWhenSent { end(link) }
  }

  private func end(_ link: Link) {
    guard !link.isOver else { return }
    link.isOver = true
    link.stream.onEvent = nil
    close(link.descriptor)
  }

  /// Runs until standard input ends.
  func run() {
    while true {
      simulator.run(until: .zero + .nanoseconds(Self.now - began))
      links.removeAll(where: \.isOver)
      var waited = [pollfd(fd: 0, events: Int16(POLLIN), revents: 0)]
      waited.append(pollfd(fd: listener ?? -1, events: Int16(POLLIN), revents: 0))
      let current = links
      waited += current.map {
        pollfd(fd: $0.descriptor, events: Int16($0.unsent.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0)
      }
      poll(&waited, nfds_t(waited.count), 2)
      simulator.run(until: .zero + .nanoseconds(Self.now - began))
      if waited[0].revents != 0, !readCommands() { return }
      if waited[1].revents != 0, let listener, let server {
        let descriptor = accept(listener, nil, nil)
        if descriptor >= 0 { join(descriptor, network.connect(to: server)) }
      }
      for (link, ready) in zip(current, waited.dropFirst(2)) where ready.revents != 0 && !link.isOver {
        flush(link)
        if ready.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 { read(link) }
      }
    }
  }

  private func read(_ link: Link) {
    guard !link.isOver else { return }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = recv(link.descriptor, &bytes, bytes.count, 0)
    if count > 0 { return link.stream.send(Array(bytes[..<count])) }
    guard count == 0 || errno != EAGAIN else { return }
    let stream = link.stream
    let isReset = count < 0
    end(link)
    if isReset { stream.abort() } else { stream.close() }
  }

  private func readCommands() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = LibC.read(0, &bytes, bytes.count)
    guard count > 0 else { return false }
    for byte in bytes[..<count] {
      if byte == UInt8(ascii: "\n") {
        onLine?(String(decoding: line, as: UTF8.self))
        line = []
      } else {
        line.append(byte)
      }
    }
    return true
  }
}
