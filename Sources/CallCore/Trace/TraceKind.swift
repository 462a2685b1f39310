/// The type of a field of a trace event. Every value is one 64-bit word; the type determines its meaning.
public enum TraceFieldType: UInt8, Sendable {
  /// A signed integer.
  case integer
  /// A floating-point number.
  case real
  /// A truth value.
  case flag
  /// Nanoseconds.
  case interval
  /// An interned string: state names, reasons, codes, identifiers.
  case symbol
  /// An interned transport address.
  case endpoint
}

/// The origin of an event.
public enum TraceOrigin: Sendable {
  /// The simulated world.
  case world
  /// An observer of the run. Its events change neither the hash nor the numbers of the world's events.
  case harness
}

/// The declaration of one field of a kind of event.
public struct TraceField: Hashable, Sendable {
  /// The field's name.
  public let name: String
  /// The type of the field's value.
  public let type: TraceFieldType

  package init(_ name: String, _ type: TraceFieldType) {
    self.name = name
    self.type = type
  }
}

/// A declared kind of trace event, such as `packet.dropped`.
///
/// A kind whose first field is called `value` is *observable*: `alice.call.state` in a scenario is the `value` of the
/// newest `call.state` event about `alice`.
public struct TraceKind: Hashable, Sendable, BitwiseCopyable {
  /// Index into ``Trace/declarations``.
  public let id: UInt16
}

/// The subject of an event: `alice`, `link/wan`, `nat/home`, `server/turn`.
public struct TraceSubject: Hashable, Sendable, BitwiseCopyable {
  /// Index into ``Trace/subjects``.
  public let id: UInt32
}

/// An interned string.
package struct Symbol: Hashable, Sendable, BitwiseCopyable {
  package let id: UInt32
}

/// The number of an event of the world in its trace, counted from 1; 0 means no event, and is the number of harness
/// events.
public struct EventNumber: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// The number, from 1.
  public let rawValue: UInt64

  /// Makes an event number.
  @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  /// The number 0, for no event.
  public static let none = EventNumber(0)
  /// Compares by order of writing.
  @inlinable public static func < (a: EventNumber, b: EventNumber) -> Bool { a.rawValue < b.rawValue }
}
