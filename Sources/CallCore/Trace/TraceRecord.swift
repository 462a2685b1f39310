/// One event in a compact, fixed-size form. A ``TraceReader`` or ``Trace/fields(of:)`` decodes its field values.
public struct TraceRecord: Sendable, BitwiseCopyable {
  /// The maximum number of fields of an event.
  package static let fieldLimit = 6

  /// The virtual time of the event.
  public var time: Instant
  /// The number of the event in its trace.
  public var number: EventNumber
  /// The event or packet that caused this one: `explain` follows this chain.
  public var cause: EventNumber
  /// The peer, link, NAT or server that the event is about.
  public var subject: TraceSubject
  /// The kind of the event.
  public var kind: TraceKind
  var fieldCount: UInt8
  var values: InlineArray<6, UInt64>
}

/// A decoded field value with its type.
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
