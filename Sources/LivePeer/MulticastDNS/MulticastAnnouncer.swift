internal import CallCore

/// The sockets and the timer of a ``MulticastResponder``. They are open only while there is a name to answer for.
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
    if !sockets.contains(where: { $0.interfaces.contains(address.index) }) { openSockets() }
    responder.add(name, of: address, at: loop.now)
    flush()
  }

  func withdraw(_ name: String) {
    responder.remove(name)
    flush()
    if responder.isEmpty { closeSockets() }
  }

  /// On the interfaces that there are now.
  private func openSockets() {
    closeSockets()
    sockets = MulticastSocket.both(on: loop) { [unowned self] message, source in
      responder.receive(message, from: source, at: loop.now)
      flush()
    }
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
