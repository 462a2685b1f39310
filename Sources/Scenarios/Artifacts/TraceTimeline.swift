public import CallCore

/// Prints events for people as they happen: time, subject, kind, fields.
public final class TraceTimeline: TraceObserver {
  private let topics: [String]
  private let from: Instant?
  private let until: Instant?
  private let write: (String) -> Void
  private var trace: Trace?
  /// By kind: whether it was asked for; nil until it is met.
  private var wanted: [Bool?] = []

  /// - Parameters:
  ///   - topics: `ice` shows the kinds `ice`, `ice.…` and `ice-…`; a subject such as `alice` shows all about it;
  ///     empty shows everything but single packets.
  ///   - from: nothing earlier is shown.
  ///   - until: nothing later is shown.
  public init(topics: [String], from: Instant? = nil, until: Instant?, write: @escaping (String) -> Void) {
    self.topics = topics
    self.from = from
    self.until = until
    self.write = write
  }

  public func observe(_ record: TraceRecord, in trace: Trace) {
    self.trace = trace
    if let until, record.time > until { return }
    if let from, record.time < from { return }
    let subject = trace.subjects[Int(record.subject.id)]
    guard isWanted(record.kind, in: trace) || topics.contains(subject) else { return }
    let declaration = trace.declarations[Int(record.kind.id)]
    var line = "\(Self.padded(TextStyle.decimal(record.time.seconds, places: 6), 12)) s  "
    line += Self.padded(subject, -12) + "  " + Self.padded(declaration.name, -20)
    for index in 0..<Int(record.fieldCount) {
      line += "  \(declaration.fields[index].name)=\(TextStyle.printable("\(trace.datum(at: index, of: record))"))"
    }
    write(line + "\n")
  }

  /// The topics that no kind and no subject of the run is called by.
  public var unknownTopics: [String] {
    topics.filter { topic in !subjects.contains(topic) && !kinds.contains { Self.matches($0, topic) } }
  }

  /// What a topic can be in this run.
  public var names: [String] { families + kinds + subjects }

  /// The same without the kinds themselves and without links and networks, of which there are many.
  public var families: [String] {
    let subjects = subjects.filter { !$0.contains("/") }
    return Set(kinds.map { String($0.prefix { $0 != "." && $0 != "-" }) } + subjects).subtracting([""]).sorted()
  }

  private var kinds: [String] { trace?.declarations.map(\.name) ?? [] }
  private var subjects: [String] { trace?.subjects ?? [] }

  private static func matches(_ kind: String, _ topic: String) -> Bool {
    kind == topic || kind.hasPrefix(topic + ".") || kind.hasPrefix(topic + "-")
  }

  private func isWanted(_ kind: TraceKind, in trace: Trace) -> Bool {
    while wanted.count <= Int(kind.id) { wanted.append(nil) }
    if let known = wanted[Int(kind.id)] { return known }
    let name = trace.declarations[Int(kind.id)].name
    let isWanted =
      topics.isEmpty
      ? !name.hasPrefix("packet.")
      : topics.contains { Self.matches(name, $0) }
    wanted[Int(kind.id)] = isWanted
    return isWanted
  }

  /// On the left to `width`, or on the right when it is negative.
  private static func padded(_ text: String, _ width: Int) -> String {
    let fill = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? text + fill : fill + text
  }
}
