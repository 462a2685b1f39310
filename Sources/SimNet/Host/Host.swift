internal import CallCore

/// A host: its interfaces in order of preference, its sockets' ports, and its delegate.
struct Host: ~Copyable {
  let name: String
  let subject: TraceSubject
  var delegate: (any HostDelegate)?
  /// The receiver of packets that are for no socket or stream of the simulator.
  var bridge: (any HostBridge)?
  var interfaces: [InterfaceID] = []
  /// The first socket on each port; others on the same port and another address are chained to it.
  var ports: [UInt16: UInt32] = [:]
  var openSockets = 0
  /// Whether datagrams that arrive are lost: nobody reads them.
  var isSuspended = false
  var pendingTimers = 0
  /// The number of streams that it could not open because no interface that is up leads to the server.
  var unreachableCount = 0
  /// The change that a pending `interfacesChanged` event reports.
  var notice: EventNumber?
  var ephemeral: RandomStream
  var streams: StreamTable
  /// The event that will drive the streams, and its time.
  var streamEvent: UInt64 = 0
  var streamWake: Instant?
  /// The cause of the streams' next actions.
  var streamCause = EventNumber.none

  init(
    name: String, subject: TraceSubject, delegate: (any HostDelegate)?, ephemeral: consuming RandomStream,
    streams: consuming StreamTable
  ) {
    self.streams = streams
    self.name = name
    self.subject = subject
    self.delegate = delegate
    self.ephemeral = ephemeral
  }
}
