package import CallCore
package import TURN

/// A TURN server on real sockets: relays are sockets of their own.
package final class TURNSocketServer: SocketServer<TURNServer> {
  /// Gets what happens to relays.
  package var onEvent: ((TURNServer.Event) -> Void)?

  package init(configuration: TURNServer.Configuration, random: RandomSource, loop: SocketLoop) {
    super.init(machine: TURNServer(configuration: configuration, random: random.stream("turn-server")), loop: loop)
  }

  package var counters: TURNServer.Counters { machine.counters }

  @discardableResult
  package override func listen(on endpoint: Endpoint) throws(SystemError) -> Endpoint {
    let local = try super.listen(on: endpoint)
    machine.withhold(local)
    return local
  }

  /// Says at the start that relays cannot be opened at an address, not to every client.
  package func checkRelays(at address: IPAddress) throws(SystemError) { close(try open(Endpoint(address, port: 0))) }

  override func handle(_ event: TURNServer.Event) {
    onEvent?(event)
    switch event {
    case .openRelay(let relay, _, _):
      do throws(SystemError) {
        try open(relay)
        machine.relayOpened(relay, at: loop.now)
      } catch {
        machine.relayUnavailable(relay, at: loop.now)
      }
    case .closeRelay(let relay, _, _): close(relay)
    }
  }

  override func streamEnded(_ path: Path, _ end: TURNStream.End) {
    machine.streamClosed(path, isMalformed: end == .malformed, at: loop.now)
  }

  override func needsStream(_ path: Path) -> Bool { machine.hasAllocation(on: path) }
}
