public import CallCore

/// A simulated internet: hosts on networks, links between them, and virtual time.
///
/// Build the topology, give hosts a ``HostDelegate``, then ``run(until:)``. Every event is written to the trace; the
/// same calls and the same seed give the same trace, byte for byte. One simulator uses one thread.
public final class Simulator {
  /// The trace of all events.
  public let trace: Trace
  /// The source of all randomness.
  public let random: RandomSource

  // The tables that every packet uses. Run-time checks of exclusive access to a class's properties would cost a quarter
  // of the time per packet; debug builds, and so the tests, keep the checks.
  #if !DEBUG
    @exclusivity(unchecked)
  #endif
  var fabric: Fabric
  #if !DEBUG
    @exclusivity(unchecked)
  #endif
  var hosts = Table<Host>()
  #if !DEBUG
    @exclusivity(unchecked)
  #endif
  var sockets: [SocketEntry] = []
  #if !DEBUG
    @exclusivity(unchecked)
  #endif
  var timers: [TimerEntry] = []
  var freeSockets: [UInt32] = []
  var socketCount: UInt32 = 0
  var freeTimers: [UInt32] = []

  var hostNames: [String: HostID] = [:]
  var networkNames: [String: NetworkID] = [:]
  var linkNames: [String: LinkID] = [:]
  var links: [Link] = []

  private var isStopping = false
  private var isDispatching = false
  private var afterwards: [() -> Void] = []
  /// The buffer for the segments of streams.
  let segmentBuffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)

  /// Makes an empty world at virtual time zero.
  public init(trace: Trace, random: RandomSource) {
    self.trace = trace
    self.random = random
    fabric = Fabric(trace: trace)
  }

  deinit { segmentBuffer.deallocate() }

  // MARK: Time

  /// The current virtual time.
  public var now: Instant { fabric.now }

  /// The time of the next event, which may be a cancelled timer; nil if none is pending.
  public var nextEventTime: Instant? { fabric.nextEventTime }

  /// Runs the next event.
  ///
  /// - Returns: false if no event is pending.
  @discardableResult
  public func step() -> Bool {
    guard let event = fabric.nextEvent(until: Instant(nanoseconds: .max)) else { return false }
    dispatch(event)
    return true
  }

  /// Runs every event up to and including `limit`, and leaves the clock there unless ``stop()`` was called.
  public func run(until limit: Instant) {
    isStopping = false
    while !isStopping, let event = fabric.nextEvent(until: limit) { dispatch(event) }
    if !isStopping { fabric.move(to: limit) }
    trace.cause = .none
  }

  /// Makes ``run(until:)`` return after the current event.
  public func stop() { isStopping = true }

  /// Runs `work` after the current event and before the next one; immediately if no event runs.
  ///
  /// Code that observes an event runs in the middle of a host's code; only after the event may it call hosts.
  package func afterEvent(_ work: @escaping () -> Void) {
    if isDispatching { afterwards.append(work) } else { work() }
  }

  private func dispatch(_ event: Event) {
    isDispatching = true
    perform(event)
    isDispatching = false
    guard !afterwards.isEmpty else { return }
    let work = afterwards
    afterwards.removeAll(keepingCapacity: true)
    for item in work { item() }
  }

  private func perform(_ event: Event) {
    switch event.kind {
    case .arrival:
      guard let interface = fabric.arrive(event) else { return }
      deliver(event.index, to: fabric.interfaces[interface.index].host, on: interface)
    case .loopback:
      guard fabric.isAwaited(event) else { return }
      deliver(event.index, to: fabric.flights[event.index].sender, on: nil)
    case .timer: fire(event)
    case .streams: runStreams(event)
    case .natExpiry: fabric.expireMappings(event)
    case .interfacesChanged:
      notify(HostID(index: Int(event.index)))
    }
  }

  // MARK: Observation

  /// Whether packets are written to the trace; false to measure the bare network.
  public var tracesPackets: Bool {
    get { fabric.packets.isEnabled }
    set { fabric.packets.isEnabled = newValue }
  }

  /// The observer of every packet at every host interface.
  public var tap: (any PacketTap)? {
    get { fabric.tap }
    set {
      fabric.tap = newValue
      for interface in fabric.interfaces { introduce(interface) }
    }
  }

  /// Introduces an interface to the tap, with a name such as `alice wifi`.
  func introduce(_ interface: NetworkInterface) {
    fabric.tap?.added(interface.id, name: "\(hosts[interface.host.index].name) \(interface.name)")
  }

  /// The number of packets on their way: zero if the network is quiet.
  package var packetsInFlight: Int { fabric.flights.liveCount }

  /// Returns the number of a host's open sockets, to check that a call left none behind.
  public func openSocketCount(of host: HostID) -> Int { hosts[host.index].openSockets }

  /// Returns the number of a host's timers that have not fired and were not cancelled.
  public func pendingTimerCount(of host: HostID) -> Int { hosts[host.index].pendingTimers }
}
