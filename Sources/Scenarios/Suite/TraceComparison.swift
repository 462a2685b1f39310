internal import CallCore
internal import Formats
internal import Foundation
internal import ScenarioFormat
internal import Vocabulary

/// Finds the first event in which two traces differ.
enum TraceComparison {
  struct Difference: Equatable {
    var summary: String
    var time: Instant
    var lines: [String]
  }

  /// Compares two files that ``TraceFile`` wrote.
  static func firstDifference(_ first: String, _ second: String) -> Difference? {
    guard let a = LineReader(path: first), let b = LineReader(path: second) else { return nil }
    var number = 0
    while true {
      let (left, right) = (a.next(), b.next())
      number += 1
      if left == right {
        if left == nil { return nil }
        continue
      }
      return difference(number, left, right)
    }
  }

  static func difference(_ number: Int, _ left: String?, _ right: String?) -> Difference {
    let events = [left, right].map { line in line.flatMap { try? JSON(parsing: $0.utf8) } }
    let times = events.compactMap { $0?["t"]?.integer }
    let time = Instant(nanoseconds: times.min() ?? 0)
    var summary = "event \(number)"
    if let event = events[0] ?? events[1] {
      summary +=
        " at \(TextStyle.seconds(time - .zero)), \(event["subject"]?.string ?? "?") \(event["kind"]?.string ?? "?")"
    }
    if let one = events[0], let other = events[1] {
      let members = differingMembers(one, other)
      summary += ": \(members.joined(separator: ", "))"
    } else {
      summary += ": only one of the runs has it"
    }
    let lines = [("one run", left), ("another", right)].map { "\($0.0): \($0.1 ?? "no more events")" }
    return Difference(summary: summary, time: time, lines: lines)
  }

  private static func differingMembers(_ one: JSON, _ other: JSON) -> [String] {
    var parts: [String] = []
    for key in ["t", "subject", "kind", "cause"] where one[key] != other[key] {
      parts.append("\(key) \(one[key]?.description ?? "none") or \(other[key]?.description ?? "none")")
    }
    guard case .object(let fields)? = one["fields"], one["kind"] == other["kind"] else { return parts }
    for field in fields where other["fields"]?[field.key] != field.value {
      parts.append("\(field.key) \(field.value) or \(other["fields"]?[field.key]?.description ?? "none")")
    }
    return parts
  }
}

/// Reads a file line by line, with at most one line in memory.
final class LineReader {
  private var descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init?(path: String) {
    descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  func next() -> String? {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return String(decoding: buffer[start..<end], as: UTF8.self)
      }
      buffer.removeFirst(start)
      start = 0
      guard !isAtEnd, let more = ChildPipe.readSome(from: descriptor) else {
        isAtEnd = true
        defer { buffer = [] }
        return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
      }
      buffer += more
    }
  }
}
