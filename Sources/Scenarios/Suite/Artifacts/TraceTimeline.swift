public import CallCore
import ScenarioFormat

/// Prints events as they happen, for reading: time, subject, kind, fields.
public final class TraceTimeline: TraceObserver {
  /// The topics to show, and the topics to leave out of those.
  private let shown: [String]
  private let hidden: [String]
  private let from: Instant?
  private let until: Instant?
  private let write: (String) -> Void
  private var trace: Trace?
  /// The decision for each kind and each subject; nil until its first event.
  private var kindChoices: [Choice?] = []
  private var subjectChoices: [Choice?] = []

  private struct Choice {
    var isShown: Bool
    var isHidden: Bool
  }

  /// Prints the events that match the topics.
  ///
  /// - Parameters:
  ///   - topics: `ice` shows the kinds `ice`, `ice.…` and `ice-…`; a subject such as `alice` shows all its events;
  ///     empty shows everything but single packets. `-packet` leaves out all that `packet` shows.
  ///   - from: the time of the first event to show.
  ///   - until: the time of the last event to show.
  public init(topics: [String], from: Instant? = nil, until: Instant?, write: @escaping (String) -> Void) {
    shown = topics.filter { !$0.hasPrefix("-") }
    hidden = topics.filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) }
    self.from = from
    self.until = until
    self.write = write
  }

  public func observe(_ record: TraceRecord, in trace: Trace) {
    self.trace = trace
    let (kind, subject) = (choice(of: record.kind, in: trace), choice(of: record.subject, in: trace))
    if let until, record.time > until { return }
    if let from, record.time < from { return }
    guard kind.isShown || subject.isShown, !kind.isHidden, !subject.isHidden else { return }
    var line = "\(Self.padded(TextStyle.decimal(record.time.seconds, places: 6), 12)) s  "
    line += Self.padded(trace.name(of: record.subject), -12) + "  " + Self.padded(trace.name(of: record.kind), -20)
    for field in trace.fields(of: record) { line += "  \(field.name)=\(TextStyle.printable("\(field.value)"))" }
    write(line + "\n")
  }

  /// The topics that no event of the run matched.
  public var unknownTopics: [String] {
    (shown + hidden).filter { topic in !subjects.contains(topic) && !kinds.contains { Self.matches($0, topic) } }
  }

  /// The possible topics of this run.
  public var names: [String] { families + kinds + subjects }

  /// The possible topics without single kinds, links and networks, of which there are many.
  public var families: [String] {
    let subjects = subjects.filter { !$0.contains("/") }
    return Set(kinds.map { String($0.prefix { $0 != "." && $0 != "-" }) } + subjects).subtracting([""]).sorted()
  }

  private var kinds: [String] { Self.met(trace?.declarations.map(\.name) ?? [], kindChoices) }
  private var subjects: [String] { Self.met(trace?.subjects ?? [], subjectChoices) }

  /// Returns the names that occurred in an event.
  private static func met(_ names: [String], _ choices: [Choice?]) -> [String] {
    zip(names, choices).filter { $1 != nil }.map(\.0)
  }

  private static func matches(_ kind: String, _ topic: String) -> Bool {
    kind == topic || kind.hasPrefix(topic + ".") || kind.hasPrefix(topic + "-")
  }

  private func choice(of kind: TraceKind, in trace: Trace) -> Choice {
    while kindChoices.count <= Int(kind.id) { kindChoices.append(nil) }
    if let known = kindChoices[Int(kind.id)] { return known }
    let name = trace.name(of: kind)
    let isShown = shown.isEmpty ? !name.hasPrefix("packet.") : shown.contains { Self.matches(name, $0) }
    let choice = Choice(isShown: isShown, isHidden: hidden.contains { Self.matches(name, $0) })
    kindChoices[Int(kind.id)] = choice
    return choice
  }

  private func choice(of subject: TraceSubject, in trace: Trace) -> Choice {
    while subjectChoices.count <= Int(subject.id) { subjectChoices.append(nil) }
    if let known = subjectChoices[Int(subject.id)] { return known }
    let name = trace.name(of: subject)
    let choice = Choice(isShown: shown.contains(name), isHidden: hidden.contains(name))
    subjectChoices[Int(subject.id)] = choice
    return choice
  }

  /// Pads the text to `width` on the right, or on the left when `width` is negative.
  private static func padded(_ text: String, _ width: Int) -> String {
    let fill = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? text + fill : fill + text
  }
}
