internal import CallCore

/// The media flows between subjects, matched by the synchronization sources of sent and received packets.
struct StoryMedia {
  private struct End: Hashable {
    let subject: TraceSubject
    let source: UInt32
  }

  private struct Course {
    let subject: String
    let source: UInt32
    var bytes = BinnedSeries()
    var intervals = Bounded<RunStory.Span>(limit: 64)
  }

  private struct Pair: Hashable {
    let from: String?
    let to: String?
  }

  /// A limit above the number of sources of any call.
  private static let limit = 512
  /// The pause after which media has stopped.
  private static let pause = Interval.seconds(1)

  private var sending: [Course] = []
  private var receiving: [Course] = []
  private var sendingIndex: [End: Int] = [:]
  private var receivingIndex: [End: Int] = [:]

  mutating func sent(_ record: TraceRecord, _ source: UInt32, _ byteCount: Int, in trace: Trace) {
    Self.note(record, source, byteCount, in: trace, &sending, &sendingIndex)
  }

  mutating func received(_ record: TraceRecord, _ source: UInt32, _ byteCount: Int, in trace: Trace) {
    Self.note(record, source, byteCount, in: trace, &receiving, &receivingIndex)
  }

  private static func note(
    _ record: TraceRecord, _ source: UInt32, _ byteCount: Int, in trace: Trace, _ courses: inout [Course],
    _ indices: inout [End: Int]
  ) {
    let end = End(subject: record.subject, source: source)
    let known = indices[end]
    let index = known ?? courses.count
    if known == nil {
      guard courses.count < limit else { return }
      indices[end] = index
      courses.append(Course(subject: trace.name(of: record.subject), source: end.source))
    }
    courses[index].bytes.add(Int64(byteCount), at: record.time)
    if let last = courses[index].intervals.last, record.time - last.end < pause {
      courses[index].intervals.changeLast { $0.end = record.time }
    } else {
      courses[index].intervals.append(.init(start: record.time, end: record.time))
    }
  }

  /// The flows, one per pair of ends, in the order of the first packet sent.
  var flows: [RunStory.MediaFlow] {
    var flows: [RunStory.MediaFlow] = []
    var index: [Pair: Int] = [:]
    func flow(_ from: String?, _ to: String?) -> Int {
      let pair = Pair(from: from, to: to)
      if let known = index[pair] { return known }
      index[pair] = flows.count
      flows.append(.init(from: from, to: to, sent: .init(), received: .init(), intervals: .init(limit: 64)))
      return flows.count - 1
    }
    for course in sending {
      let receivers = receiving.filter { $0.source == course.source }
      for receiver in receivers.isEmpty ? [nil] : receivers.map({ Optional($0.subject) }) {
        flows[flow(course.subject, receiver)].sent.add(course.bytes)
      }
    }
    for course in receiving {
      let index = flow(sending.first { $0.source == course.source }?.subject, course.subject)
      flows[index].received.add(course.bytes)
      for span in course.intervals.elements { flows[index].intervals.append(span) }
    }
    return flows
  }
}
