/// The time of a machine's next ``SansIO/advance(to:)``, and its reason.
///
/// The reason is a number that each machine defines; drivers trace it so that a hot timer loop is visible.
public enum Wake: Hashable, Sendable, BitwiseCopyable {
  /// The machine must be advanced at an instant; `reason` is the machine's own number of its timer.
  case at(Instant, reason: UInt8)
  /// No timer is pending.
  case never

  /// The deadline, or nil if no timer is pending.
  @inlinable public var deadline: Instant? {
    if case .at(let instant, _) = self { instant } else { nil }
  }

  /// Returns the earlier of two wakes; the first wins a tie.
  @inlinable public static func earliest(_ a: Wake, _ b: Wake) -> Wake {
    guard let second = b.deadline else { return a }
    guard let first = a.deadline else { return b }
    return second < first ? b : a
  }
}

/// A protocol machine that owns no socket, timer, thread or clock.
///
/// The contract of every machine in the call stack:
/// - After *every* mutation the driver drains ``transmit(into:)`` until it returns nil, then ``nextEvent()``, and only
///   then reads ``wake`` (see ``pump(_:buffer:send:event:)``). Sending may make events; taking an event
///   makes no datagram.
/// - Malformed input is counted, never thrown and never trapped. A caller's mistake is a typed throw.
/// - An instant earlier than the last one given is treated as the last one given.
public protocol SansIO: ~Copyable {
  /// The type of the machine's events.
  associatedtype Event

  /// Handles one datagram that arrived on `path`.
  mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant)

  /// Runs every timer due at `now`.
  mutating func advance(to now: Instant)

  /// Writes one outgoing datagram into the driver's memory and returns its path, or nil if there is none.
  ///
  /// `buffer` is empty on entry and has room for at least ``maximumDatagramSize`` bytes.
  mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path?

  /// Returns and removes the next event for the driver, in order, or nil.
  mutating func nextEvent() -> Event?

  /// The next deadline. Valid only after a drain.
  var wake: Wake { get }
}

/// The capacity that every driver offers to ``SansIO/transmit(into:)``: the size of one Ethernet frame's payload.
public let maximumDatagramSize = 1_500

/// Drains a machine: the one loop shared by the simulator and the socket driver.
///
/// - Returns: the machine's next deadline.
@inlinable
public func pump<Machine: SansIO & ~Copyable>(
  _ machine: inout Machine, buffer: inout OutputSpan<UInt8>,
  send: (RawSpan, Path) -> Void, event: (Machine.Event) -> Void
) -> Wake {
  buffer.removeAll()
  while let path = machine.transmit(into: &buffer) {
    send(buffer.span.bytes, path)
    buffer.removeAll()
  }
  while let next = machine.nextEvent() { event(next) }
  return machine.wake
}
