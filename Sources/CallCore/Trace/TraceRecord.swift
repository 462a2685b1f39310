/// One event in its cheap, fixed-size form. Field values are words, read by a ``TraceReader`` or ``Trace/fields(of:)``.
public struct TraceRecord: Sendable, BitwiseCopyable {
  /// The most fields an event has.
  package static let fieldLimit = 6

  /// The virtual time of the event.
  public var time: Instant
  /// The number of the event in its trace.
  public var number: EventNumber
  /// The event or packet that led to this one: the chain that `explain` walks.
  public var cause: EventNumber
  /// The peer, link, NAT or server that the event is about.
  public var subject: TraceSubject
  /// The kind of the event.
  public var kind: TraceKind
  var fieldCount: UInt8
  var values: InlineArray<6, UInt64>
}

/// A field value read back with its type.
public enum TraceDatum: Hashable, Sendable {
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// A truth value.
  case flag(Bool)
  /// A time span.
  case interval(Interval)
  /// A text.
  case symbol(String)
  /// A transport address.
  case endpoint(Endpoint)
}

extension TraceDatum: CustomStringConvertible {
  public var description: String {
    switch self {
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .flag(let value): "\(value)"
    case .interval(let value): "\(value)"
    case .symbol(let value): value
    case .endpoint(let value): "\(value)"
    }
  }
}
