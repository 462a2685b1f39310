internal import CallCore

/// The receiver of an event.
enum EventKind: UInt8, BitwiseCopyable {
  /// A packet reaches the end of a link.
  case arrival
  /// A packet that a host sent to itself arrives.
  case loopback
  /// A host's timer is due.
  case timer
  /// A host's streams have a timer due, or data to send.
  case streams
  /// A NAT removes idle mappings.
  case natExpiry
  /// A host is informed that its interfaces changed.
  case interfacesChanged
}

/// A future event: plain data in the queue, 24 bytes.
///
/// Events are never removed from the queue. Their receiver stores the number of the event that it waits for, and any
/// other event is skipped: cancelling and re-timing are one store.
struct Event: BitwiseCopyable {
  var time: Instant
  /// The order of insertion: breaks ties, and identifies the event.
  var number: UInt64
  /// Index into the table that `kind` names.
  var index: UInt32
  var kind: EventKind

  /// The total order of a run.
  @inline(__always) static func precedes(_ a: Event, _ b: Event) -> Bool {
    a.time == b.time ? a.number < b.number : a.time < b.time
  }
}
