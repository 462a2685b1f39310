internal import CallCore

/// What an event wakes.
enum EventKind: UInt8, BitwiseCopyable {
  /// A packet reaches the end of a link.
  case arrival
  /// A packet a host sent to itself comes round.
  case loopback
  /// A host's timer.
  case timer
  /// A host's streams have a timer due, or something to say.
  case streams
  /// A NAT looks for mappings fallen idle.
  case natExpiry
  /// A host is told that its interfaces changed.
  case interfacesChanged
}

/// One thing that will happen: plain data in the queue, 24 bytes.
///
/// Events are never removed from the queue. What an event wakes remembers the number of the event it waits for, and an
/// event nobody waits for is skipped: cancelling and re-timing are one store.
struct Event: BitwiseCopyable {
  var time: Instant
  /// Order of insertion: breaks ties, and names the event.
  var number: UInt64
  /// Index into the table that `kind` names.
  var index: UInt32
  var kind: EventKind

  /// The total order of a run.
  @inline(__always) static func precedes(_ a: Event, _ b: Event) -> Bool {
    a.time == b.time ? a.number < b.number : a.time < b.time
  }
}
