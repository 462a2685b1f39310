package import CallCore
internal import CallSession
package import DTLS
package import TURN

/// A TURN server on real sockets: relays are sockets of their own.
package final class TURNSocketServer: SocketServer<TURNServer> {
  /// Gets what happens to relays.
  package var onEvent: ((TURNServer.Event) -> Void)?
  private var renewal = LoopTimer {}

  package init(configuration: TURNServer.Configuration, random: RandomSource, loop: SocketLoop) {
    super.init(machine: TURNServer(configuration: configuration, random: random.stream("turn-server")), loop: loop)
  }

  deinit { loop.remove(renewal) }

  package var counters: TURNServer.Counters { machine.counters }

  @discardableResult
  package override func listen(on endpoint: Endpoint) throws(SystemError) -> [Endpoint] {
    let served = try super.listen(on: endpoint)
    for place in served { machine.withhold(place) }
    return served
  }

  @discardableResult
  package override func listen(on endpoint: Endpoint, over context: TLSContext) throws(SystemError) -> [Endpoint] {
    let served = try super.listen(on: endpoint, over: context)
    for place in served { machine.withhold(place) }
    return served
  }

  /// Asks for the credentials anew every so often: those that depend on the date would go by a clock that has been set
  /// since, or that the machine slept through.
  package func renewCredentials(
    every period: Interval = .seconds(60), _ credentials: @escaping () -> TURNCredentialStore
  ) {
    loop.remove(renewal)
    renewal = loop.makeTimer { [unowned self] in
      renewal.deadline = loop.now + period
      machine.setCredentials(credentials())
    }
    renewal.deadline = loop.now + period
  }

  /// Says at the start that relays cannot be opened at an address, not to every client.
  package func checkRelays(at address: IPAddress) throws(SystemError) { close(try open(Endpoint(address, port: 0))) }

  /// Where relays are opened when a wildcard is served: at the first of its addresses that other machines can reach, for
  /// a server has one relay address of each family. Loopback, where there is nothing else.
  package static func relayAddress(for wildcard: IPAddress, of addresses: [InterfaceAddress]) -> IPAddress? {
    let served = addresses.filter { $0.address.isIPv6 == wildcard.isIPv6 }
    return (InterfaceFilter().select(from: served).first ?? served.first)?.address
  }

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
