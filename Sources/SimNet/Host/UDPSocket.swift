internal import CallCore

/// An open UDP socket of a host.
public struct UDPSocket: Hashable, Sendable, BitwiseCopyable {
  let index: UInt32
  /// The number of the socket within the run, so that a closed socket's handle never refers to a later one.
  package let serial: UInt32
}

/// A pending timer of a host.
public struct TimerID: Hashable, Sendable, BitwiseCopyable {
  let index: UInt32
  let event: UInt64
}

/// A socket's entry in the simulator's table.
struct SocketEntry {
  var serial: UInt32
  var host: HostID
  /// Nil accepts datagrams to any of the host's addresses.
  var address: IPAddress?
  var port: UInt16
  /// The next socket of the host on the same port.
  var next: UInt32?
  var isOpen = true
}

/// A timer's entry in the simulator's table.
struct TimerEntry {
  var host: HostID
  var token: UInt64
  /// The event that the timer waits for; 0 if the entry is free.
  var event: UInt64
  var cause: EventNumber
}
