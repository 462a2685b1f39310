internal import CallCore
internal import Formats

/// Writes the whole trace of a run, one JSON object per line, with names rendered.
final class TraceFile: TraceObserver {
  private let sink: FileSink

  init(path: String) throws(FileError) { sink = try FileSink(path: path, keepsEveryLine: true) }

  func observe(_ record: TraceRecord, in trace: Trace) {
    let fields = trace.fields(of: record).map { JSON.Member($0.name, Self.json($0.value)) }
    var members: [JSON.Member] = [
      .init("t", .integer(record.time.nanoseconds))
    ]
    // Only events of the world have a number.
    if record.number != .none { members.append(.init("n", .unsigned(record.number.rawValue))) }
    members += [
      .init("subject", .string(trace.name(of: record.subject))),
      .init("kind", .string(trace.name(of: record.kind))),
    ]
    if !fields.isEmpty { members.append(.init("fields", .object(fields))) }
    if record.cause != .none { members.append(.init("cause", .unsigned(record.cause.rawValue))) }
    sink.write(JSON.object(members).description + "\n")
  }

  func close() throws(FileError) { try sink.close() }

  private static func json(_ datum: TraceDatum) -> JSON {
    switch datum {
    case .integer(let value): .integer(value)
    case .real(let value): .number(value)
    case .flag(let value): .bool(value)
    case .interval(let value): .integer(value.nanoseconds)
    case .symbol(let value): .string(value)
    case .endpoint(let value): .string("\(value)")
    }
  }
}
