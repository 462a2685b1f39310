/// One event in its cheap, fixed-size form. Field values are words, read by a ``TraceReader`` or ``Trace/fields(of:)``.
public struct TraceRecord: Sendable, BitwiseCopyable {
  /// The most fields an event has.
  public static let fieldLimit = 6

  public var time: Instant
  public var number: EventNumber
  /// The event or packet that led to this one: the chain that `explain` walks.
  public var cause: EventNumber
  public var subject: TraceSubject
  public var kind: TraceKind
  var fieldCount: UInt8
  var values: InlineArray<6, UInt64>
}

/// A field value read back with its type.
public enum TraceDatum: Hashable, Sendable {
  case integer(Int64)
  case real(Double)
  case flag(Bool)
  case interval(Interval)
  case symbol(String)
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
