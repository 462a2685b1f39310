/// Reads events as they are written: monitors, file writers, statistics.
public protocol TraceObserver: AnyObject {
  /// Handles an event of a kind that this observer was added for. `trace` resolves names and field values.
  func observe(_ record: TraceRecord, in trace: Trace)
}

/// The central record of a run: every event, in order, with a running hash of the world's events.
///
/// A kind belongs to the world or to the harness. Events of samplers, meters and judges belong to the harness: they are
/// neither counted nor hashed, so that observing a run does not change it.
///
/// Writing costs a few dozen nanoseconds and stores no events: observers keep the ones they need, and names are
/// interned so that text is rendered only when it is read. One run uses one thread; a trace is not `Sendable`.
public final class Trace {
  /// The name and the fields of a kind of event.
  public struct Declaration: Sendable {
    /// The kind's name, such as `packet.dropped`.
    public let name: String
    /// The kind's fields, in the order of a record's values.
    public let fields: [TraceField]
    /// Whether the simulated world or an observer of the run writes such events.
    public let origin: TraceOrigin
    /// Whether the first field is a value that scenarios may watch.
    let isObservable: Bool

    init(name: String, fields: [TraceField], origin: TraceOrigin) {
      (self.name, self.fields, self.origin) = (name, fields, origin)
      isObservable = fields.first?.name == "value"
    }
  }

  /// The time stamped on events; the engine sets it before it dispatches.
  public var now = Instant.zero
  /// The cause stamped on events written without one; the engine sets it before it dispatches.
  package var cause = EventNumber.none

  /// All declared kinds, indexed by ``TraceKind/id``.
  public private(set) var declarations: [Declaration] = []
  /// The names of all subjects, indexed by ``TraceSubject/id``.
  public private(set) var subjects: [String] = []
  private(set) var symbols: [String] = []
  private(set) var endpoints: [Endpoint] = []

  /// The number of events of the world written so far.
  public private(set) var count: UInt64 = 0
  /// The hash of every event of the world so far, names included: equal hashes mean equal runs.
  public private(set) var hash: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// The hash of a kind, and its parameters.
  private struct KindHash {
    /// The hash of its name and fields.
    let word: UInt64
    /// Bit masks of the fields that hold an interned string, and of those that hold an interned endpoint.
    let symbols: UInt8
    let endpoints: UInt8
    let isOfWorld: Bool
  }

  /// Interned values are hashed by their content, and not by their index: an observer interns names, too.
  private var kindHashes: [KindHash] = []
  private var subjectHashes: [UInt64] = []
  private var symbolHashes: [UInt64] = []
  private var endpointHashes: [UInt64] = []
  private var kindIDs: [String: TraceKind] = [:]
  private var subjectIDs: [String: TraceSubject] = [:]
  private var symbolIDs: [String: Symbol] = [:]
  private var endpointIDs: [Endpoint: UInt32] = [:]
  private var observers: [[any TraceObserver]] = []
  private var universalObservers: [any TraceObserver] = []

  /// Makes an empty trace at virtual time zero.
  public init() {}

  // MARK: Names

  /// Declares a kind, or returns the one already declared under that name.
  ///
  /// - Precondition: a name is always declared with the same fields, at most ``TraceRecord/fieldLimit``, and the same
  ///   origin.
  func declare(_ name: String, _ fields: [TraceField], origin: TraceOrigin) -> TraceKind {
    if let known = kindIDs[name] {
      let declaration = declarations[Int(known.id)]
      precondition(
        declaration.fields == fields && declaration.origin == origin, "'\(name)' is declared twice and differently")
      return known
    }
    precondition(fields.count <= TraceRecord.fieldLimit, "'\(name)' has too many fields")
    let kind = TraceKind(id: UInt16(declarations.count))
    declarations.append(Declaration(name: name, fields: fields, origin: origin))
    kindHashes.append(
      KindHash(
        word: Self.hash(of: name, fields), symbols: Self.bits(of: .symbol, in: fields),
        endpoints: Self.bits(of: .endpoint, in: fields), isOfWorld: origin == .world))
    observers.append(universalObservers)
    kindIDs[name] = kind
    return kind
  }

  /// Returns the kind declared under a name, or nil if no event of that name can have been written yet.
  public func kind(named name: String) -> TraceKind? { kindIDs[name] }

  package func subject(_ name: String) -> TraceSubject {
    if let known = subjectIDs[name] { return known }
    let subject = TraceSubject(id: UInt32(subjects.count))
    subjects.append(name)
    subjectIDs[name] = subject
    subjectHashes.append(Self.mixed(0, name))
    return subject
  }

  package func symbol(_ text: String) -> Symbol {
    if let known = symbolIDs[text] { return known }
    let symbol = Symbol(id: UInt32(symbols.count))
    symbols.append(text)
    symbolIDs[text] = symbol
    symbolHashes.append(Self.mixed(0, text))
    return symbol
  }

  /// Returns the word that represents `endpoint`.
  package func word(for endpoint: Endpoint) -> UInt64 {
    if let known = endpointIDs[endpoint] { return UInt64(known) }
    let id = UInt32(endpoints.count)
    endpoints.append(endpoint)
    endpointIDs[endpoint] = id
    let address = Self.mixed(Self.mixed(0, endpoint.address.high), endpoint.address.low)
    endpointHashes.append(Self.mixed(address, UInt64(endpoint.port)))
    return UInt64(id)
  }

  // MARK: Observers

  /// Sends all events to `observer`.
  public func add(_ observer: any TraceObserver) {
    universalObservers.append(observer)
    for index in observers.indices { observers[index].append(observer) }
  }

  func add(_ observer: any TraceObserver, for kind: TraceKind) { observers[Int(kind.id)].append(observer) }

  /// Removes every observer: those that hold the trace would otherwise form a reference cycle with it.
  public func removeObservers() {
    universalObservers.removeAll()
    for index in observers.indices { observers[index].removeAll() }
  }

  // MARK: Writing

  /// Writes an event whose fields are already words: the form for events of every packet.
  @discardableResult
  package func write(
    _ kind: TraceKind, _ subject: TraceSubject, cause: EventNumber, fieldCount: Int, _ words: InlineArray<6, UInt64>
  ) -> EventNumber {
    assert(fieldCount == declarations[Int(kind.id)].fields.count, "wrong number of values for this kind")
    let isOfWorld = kindHashes[Int(kind.id)].isOfWorld
    if isOfWorld {
      count += 1
      hash = hash(kind, subject, cause, fieldCount, words)
    }
    let record = TraceRecord(
      time: now, number: isOfWorld ? EventNumber(count) : .none, cause: cause, subject: subject, kind: kind,
      fieldCount: UInt8(fieldCount), values: words)
    for observer in observers[Int(kind.id)] { observer.observe(record, in: self) }
    return record.number
  }

  // MARK: Reading records of any kind

  /// Returns the name of a kind.
  public func name(of kind: TraceKind) -> String { declarations[Int(kind.id)].name }

  /// Returns the name of a subject.
  public func name(of subject: TraceSubject) -> String { subjects[Int(subject.id)] }

  /// Returns whether records of the kind set a value that scenarios may watch.
  public func isObservable(_ kind: TraceKind) -> Bool { declarations[Int(kind.id)].isObservable }

  /// Returns the fields of a record with their names, as its kind declares them.
  public func fields(of record: TraceRecord) -> [(name: String, value: TraceDatum)] {
    declarations[Int(record.kind.id)].fields.indices.map { index in
      (declarations[Int(record.kind.id)].fields[index].name, datum(at: index, of: record))
    }
  }

  /// Returns the value that a record of an observable kind sets; nil for other kinds.
  public func value(of record: TraceRecord) -> TraceDatum? {
    declarations[Int(record.kind.id)].isObservable ? datum(at: 0, of: record) : nil
  }

  /// Returns the value of a record as a known type; nil for kinds that are not observable.
  ///
  /// - Precondition: the kind declares its value with this type.
  package func value<Value: TraceFieldValue>(of record: TraceRecord, as type: Value.Type) -> Value? {
    let declaration = declarations[Int(record.kind.id)]
    guard declaration.isObservable else { return nil }
    precondition(declaration.fields[0].type == Value.traceFieldType, "'\(declaration.name)' has another type")
    return Value(word: record.values[0], in: self)
  }

  private func datum(at index: Int, of record: TraceRecord) -> TraceDatum {
    let word = record.values[index]
    switch declarations[Int(record.kind.id)].fields[index].type {
    case .integer: return .integer(Int64(bitPattern: word))
    case .real: return .real(Double(bitPattern: word))
    case .flag: return .flag(word != 0)
    case .interval: return .interval(Interval(nanoseconds: Int64(bitPattern: word)))
    case .symbol: return .symbol(symbols[Int(word)])
    case .endpoint: return .endpoint(endpoints[Int(word)])
    }
  }

  // MARK: Hashing

  /// Returns the hash including this event.
  private func hash(
    _ kind: TraceKind, _ subject: TraceSubject, _ cause: EventNumber, _ fieldCount: Int, _ words: InlineArray<6, UInt64>
  ) -> UInt64 {
    let known = kindHashes[Int(kind.id)]
    var hash = Self.mixed(hash, UInt64(bitPattern: now.nanoseconds))
    hash = Self.mixed(hash, known.word)
    hash = Self.mixed(hash, subjectHashes[Int(subject.id)])
    hash = Self.mixed(hash, cause.rawValue)
    for index in 0..<fieldCount {
      let (word, bit) = (words[index], UInt8(1) << UInt8(index))
      let content =
        known.symbols & bit != 0
        ? symbolHashes[Int(word)] : known.endpoints & bit != 0 ? endpointHashes[Int(word)] : word
      hash = Self.mixed(hash, content)
    }
    return hash
  }

  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let keyed = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
    return keyed ^ (keyed >> 32)
  }

  private static func mixed(_ hash: UInt64, _ text: String) -> UInt64 {
    var hash = mixed(hash, UInt64(text.utf8.count))
    for byte in text.utf8 { hash = mixed(hash, UInt64(byte)) }
    return hash
  }

  private static func hash(of name: String, _ fields: [TraceField]) -> UInt64 {
    var hash = mixed(mixed(0, UInt64(fields.count)), name)
    for field in fields { hash = mixed(hash, field.name) }
    return hash
  }

  private static func bits(of type: TraceFieldType, in fields: [TraceField]) -> UInt8 {
    fields.indices.reduce(0) { fields[$1].type == type ? $0 | 1 << UInt8($1) : $0 }
  }
}
