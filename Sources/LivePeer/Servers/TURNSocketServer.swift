package import CallCore
package import DTLS
internal import PeerSession
package import TURN

/// A TURN server on real sockets, with one socket for each relay.
package final class TURNSocketServer: SocketServer<TURNServer> {
  /// A handler for the events of relays.
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

  /// Renews the credentials periodically: those that depend on the date would follow an old clock after the machine's
  /// clock was set or the machine slept.
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

  /// Checks at the start that relays can be opened at an address, instead of refusing every client later.
  package func checkRelays(at address: IPAddress) throws(SystemError) { close(try open(Endpoint(address, port: 0))) }

  /// Returns the relay address for a wildcard: the first address of its family that other machines can reach, else
  /// loopback. A server has one relay address of each family.
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
