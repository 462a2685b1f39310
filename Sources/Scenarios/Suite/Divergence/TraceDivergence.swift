internal import CallCore
internal import Formats
internal import Foundation

/// The first event of the world in which two traces differ, and the way that led to it.
///
/// Events of observers are left out, as in the hash: an expectation more or less is no difference between two runs.
struct TraceDivergence {
  /// A line of a trace.
  struct Event: Equatable {
    let time: Instant
    let subject: String
    let kind: String
    /// The fields as `name=value`.
    let fields: [String]
    private let json: JSON

    init?(line: String) {
      guard let json = try? JSON(parsing: line.utf8), let time = json["t"]?.integer,
        let subject = json["subject"]?.string, let kind = json["kind"]?.string
      else { return nil }
      self.time = Instant(nanoseconds: time)
      self.subject = subject
      self.kind = kind
      self.json = json
      guard case .object(let members)? = json["fields"] else {
        fields = []
        return
      }
      fields = members.map { "\($0.key)=\($0.value.string ?? "\($0.value)")" }
    }

    /// Returns a field that is text.
    func text(_ field: String) -> String? { json["fields"]?[field]?.string }
  }

  /// One of the two runs at the difference.
  struct Side {
    /// The differing event; nil if the run has no more.
    let event: Event?
    /// The cause of the event, the cause of that, and so on to the first one.
    let causes: [Event]
    /// Whether ``causes`` was cut off.
    let isCut: Bool
  }

  /// The difference in words.
  let summary: String
  let sides: [Side]
  /// The last events before, in both runs, about the subjects of the differing events.
  let common: [Event]

  private static let (causeLimit, commonLimit) = (24, 6)

  /// Compares two files that ``TraceFile`` wrote; nil if their events of the world are equal.
  init?(_ first: String, _ second: String) {
    guard let a = LineReader(path: first), let b = LineReader(path: second) else { return nil }
    // The cause of each common event, by its number: the way back needs no second look at all of them.
    var causes: [UInt64] = [0]
    var (left, right): (String?, String?)
    repeat {
      (left, right) = (a.nextOfWorld(), b.nextOfWorld())
      if let left, left == right { causes.append(Self.cause(of: left)) }
    } while left != nil && left == right
    guard left != nil || right != nil else { return nil }
    let number = causes.count
    summary = TraceComparison.difference(number, left, right).summary
    let chains = [left, right].map { Self.chain(from: $0.map(Self.cause) ?? 0, causes) }
    let events = [left, right].map { $0.flatMap(Event.init) }
    let subjects = events.compactMap { $0?.subject }
    let past = Past(first, before: number, numbers: Set(chains.flatMap(\.self)), subjects: Set(subjects))
    sides = zip(events, chains).map { event, chain in
      Side(
        event: event, causes: chain.prefix(Self.causeLimit).compactMap { past.byNumber[$0] },
        isCut: chain.count > Self.causeLimit)
    }
    common = past.last(Self.commonLimit)
  }

  private static func chain(from cause: UInt64, _ causes: [UInt64]) -> [UInt64] {
    var chain: [UInt64] = []
    var next = cause
    // A cause is always an earlier event.
    while next > 0, next < UInt64(causes.count), chain.last.map({ next < $0 }) ?? true {
      chain.append(next)
      next = causes[Int(next)]
    }
    return chain
  }

  /// Returns the number at the end of a line of a trace, which is that of the cause; 0 if there is none.
  static func cause(of line: String) -> UInt64 {
    let bytes = line.utf8
    guard bytes.last == UInt8(ascii: "}") else { return 0 }
    let digits = bytes.dropLast().reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let rest = bytes.dropLast(digits.count + 1)
    guard !digits.isEmpty, rest.suffix(8).elementsEqual("\"cause\":".utf8) else { return 0 }
    return digits.reversed().reduce(0) { $0 &* 10 &+ UInt64($1 - UInt8(ascii: "0")) }
  }

  /// Some of the events before the difference.
  private struct Past {
    private(set) var byNumber: [UInt64: Event] = [:]
    private var recent: [Event] = []

    init(_ path: String, before end: Int, numbers: Set<UInt64>, subjects: Set<String>) {
      guard let reader = LineReader(path: path) else { return }
      let marks = subjects.map { "\"subject\":\(JSON.string($0))" }
      var number = 1
      while number < end, let line = reader.nextOfWorld() {
        let isCause = numbers.contains(UInt64(number))
        if isCause || marks.contains(where: { line.contains($0) }), let event = Event(line: line) {
          if isCause { byNumber[UInt64(number)] = event }
          if subjects.contains(event.subject) { recent.append(event) }
          if recent.count > 4_096 { recent.removeFirst(2_048) }
        }
        number += 1
      }
    }

    /// Returns the last events of each subject together, in their order.
    func last(_ limit: Int) -> [Event] {
      var counts: [String: Int] = [:]
      return recent.reversed().filter { event in
        counts[event.subject, default: 0] += 1
        return counts[event.subject]! <= limit
      }.reversed()
    }
  }
}

extension LineReader {
  /// Returns the next line that holds an event of the world; only those have a number.
  func nextOfWorld() -> String? {
    while let line = next() {
      guard let comma = line.utf8.firstIndex(of: UInt8(ascii: ",")) else { continue }
      if line.utf8[line.utf8.index(after: comma)...].starts(with: "\"n\":".utf8) { return line }
    }
    return nil
  }
}
