internal import CallCore

/// The sockets and the timer of a ``MulticastResponder``. The sockets are open only while there is a name to announce.
final class MulticastAnnouncer {
  private unowned let loop: SocketLoop
  private var responder = MulticastResponder()
  private var sockets: [MulticastSocket] = []
  private var timer = LoopTimer {}

  init(loop: SocketLoop) {
    self.loop = loop
    timer = loop.makeTimer { [unowned self] in
      responder.advance(to: self.loop.now)
      flush()
    }
  }

  func announce(_ name: String, of address: InterfaceAddress) {
    join(address)
    responder.add(name, of: address, at: loop.now)
    flush()
  }

  func withdraw(_ name: String) {
    responder.remove(name)
    flush()
    if responder.isEmpty { closeSockets() }
  }

  private func join(_ address: InterfaceAddress) {
    let known = sockets.first { $0.isIPv6 == address.address.isIPv6 }
    let opened =
      known
      ?? MulticastSocket(isIPv6: address.address.isIPv6, loop: loop) { [unowned self] message, source in
        responder.receive(message, from: source, at: loop.now)
        flush()
      }
    guard let socket = opened else { return }
    if known == nil { sockets.append(socket) }
    socket.join(on: address.index)
  }

  private func closeSockets() {
    for socket in sockets { socket.close() }
    sockets = []
  }

  private func flush() {
    while let (message, destination) = responder.nextMessage() {
      switch destination {
      case .group(let interface): for socket in sockets { socket.send(message, on: interface) }
      case .host(let host): for socket in sockets { socket.send(message, to: host) }
      }
    }
    timer.deadline = responder.deadline
  }
}
