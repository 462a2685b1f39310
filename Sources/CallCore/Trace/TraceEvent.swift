/// A type that a field of an event can have: one 64-bit word, or a value that a trace interns.
package protocol TraceFieldValue: Sendable {
  static var traceFieldType: TraceFieldType { get }
  /// Returns the word that represents the value in this trace.
  func word(in trace: Trace) -> UInt64
  init(word: UInt64, in trace: Trace)
}

/// The schema of a kind of event: its name, its fields with their types, and its origin.
///
/// Writing and reading are typed against it:
///
///     trace.write(PeerEvents.action, alice, "call", "bob")
///     trace.listen(to: PeerEvents.action) { record, action, to in … }
package struct TraceEvent<each Value: TraceFieldValue>: Sendable {
  package let name: String
  package let fields: [TraceField]
  package let origin: TraceOrigin

  /// Makes a schema.
  ///
  /// - Precondition: at most ``TraceRecord/fieldLimit`` fields.
  package init(
    _ name: String, _ field: repeat (name: String, type: (each Value).Type), origin: TraceOrigin = .world
  ) {
    self.name = name
    self.origin = origin
    var fields: [TraceField] = []
    for (name, type) in repeat each field { fields.append(TraceField(name, type.traceFieldType)) }
    precondition(fields.count <= TraceRecord.fieldLimit, "'\(name)' has too many fields")
    self.fields = fields
  }
}

extension Trace {
  /// Declares a kind, or returns the one already declared under that name.
  ///
  /// - Precondition: a name is always declared with the same fields and the same origin.
  @discardableResult
  package func declare<each Value>(_ event: TraceEvent<repeat each Value>) -> TraceKind {
    declare(event.name, event.fields, origin: event.origin)
  }

  /// Writes an event now; `cause` defaults to the trace's current cause.
  @discardableResult
  package func write<each Value>(
    _ event: TraceEvent<repeat each Value>, _ subject: TraceSubject, cause: EventNumber? = nil,
    _ value: repeat each Value
  ) -> EventNumber {
    write(writer(of: event), subject, cause: cause, repeat each value)
  }

  /// Writes an event of a kind whose writer is kept: the form for events of every packet.
  @discardableResult
  package func write<each Value>(
    _ writer: TraceWriter<repeat each Value>, _ subject: TraceSubject, cause: EventNumber? = nil,
    _ value: repeat each Value
  ) -> EventNumber {
    var words = InlineArray<6, UInt64>(repeating: 0)
    var count = 0
    for value in repeat each value {
      words[count] = value.word(in: self)
      count += 1
    }
    return write(writer.kind, subject, cause: cause ?? self.cause, fieldCount: count, words)
  }

  /// Declares a kind and returns a writer of its records, which saves looking the kind up by name.
  package func writer<each Value>(of event: TraceEvent<repeat each Value>) -> TraceWriter<repeat each Value> {
    TraceWriter(kind: declare(event))
  }

  /// Declares a kind and returns a reader of its records.
  package func reader<each Value>(of event: TraceEvent<repeat each Value>) -> TraceReader<repeat each Value> {
    TraceReader(kind: declare(event))
  }

  /// Calls `listener` with the values of each event of the kind, as it is written.
  package func listen<each Value>(
    to event: TraceEvent<repeat each Value>, _ listener: @escaping (TraceRecord, repeat each Value) -> Void
  ) {
    let reader = reader(of: event)
    add(
      TraceListener { record, trace in
        let values = reader.values(of: record, in: trace)
        listener(record, repeat each values)
      }, for: reader.kind)
  }
}

/// Writes the records of one kind, in the trace that made it.
package struct TraceWriter<each Value: TraceFieldValue>: Sendable {
  let kind: TraceKind
}

/// Reads the records of one kind. Names and types of the fields are checked when it is made, not for each record.
package struct TraceReader<each Value: TraceFieldValue>: Sendable {
  package let kind: TraceKind

  /// Returns the values of a record's fields, in their order.
  ///
  /// - Precondition: the record is of this kind, in the trace that made the reader.
  package func values(of record: TraceRecord, in trace: Trace) -> (repeat each Value) {
    precondition(record.kind == kind, "the record is of another kind")
    var index = 0
    func next<Field: TraceFieldValue>(_ type: Field.Type) -> Field {
      defer { index += 1 }
      return Field(word: record.values[index], in: trace)
    }
    return (repeat next((each Value).self))
  }
}

private final class TraceListener: TraceObserver {
  private let listener: (TraceRecord, Trace) -> Void
  init(_ listener: @escaping (TraceRecord, Trace) -> Void) { self.listener = listener }
  func observe(_ record: TraceRecord, in trace: Trace) { listener(record, trace) }
}

// MARK: Types of fields

extension String: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .symbol }
  package func word(in trace: Trace) -> UInt64 { UInt64(trace.symbol(self).id) }
  package init(word: UInt64, in trace: Trace) { self = trace.symbols[Int(word)] }
}

extension Endpoint: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .endpoint }
  package func word(in trace: Trace) -> UInt64 { trace.word(for: self) }
  package init(word: UInt64, in trace: Trace) { self = trace.endpoints[Int(word)] }
}

extension Int: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .integer }
  package func word(in trace: Trace) -> UInt64 { UInt64(bitPattern: Int64(self)) }
  package init(word: UInt64, in trace: Trace) { self = Int(Int64(bitPattern: word)) }
}

extension UInt64: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .integer }
  package func word(in trace: Trace) -> UInt64 { self }
  package init(word: UInt64, in trace: Trace) { self = word }
}

extension UInt32: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .integer }
  package func word(in trace: Trace) -> UInt64 { UInt64(self) }
  package init(word: UInt64, in trace: Trace) { self = UInt32(truncatingIfNeeded: word) }
}

extension Double: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .real }
  package func word(in trace: Trace) -> UInt64 { bitPattern }
  package init(word: UInt64, in trace: Trace) { self.init(bitPattern: word) }
}

extension Bool: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .flag }
  package func word(in trace: Trace) -> UInt64 { self ? 1 : 0 }
  package init(word: UInt64, in trace: Trace) { self = word != 0 }
}

extension Interval: TraceFieldValue {
  package static var traceFieldType: TraceFieldType { .interval }
  package func word(in trace: Trace) -> UInt64 { UInt64(bitPattern: nanoseconds) }
  package init(word: UInt64, in trace: Trace) { self.init(nanoseconds: Int64(bitPattern: word)) }
}
