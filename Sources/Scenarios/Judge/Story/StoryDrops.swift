internal import CallCore

/// The packets dropped by the network, relays and rules: a flow for each reason, place and pair of endpoints.
struct StoryDrops {
  final class Flow {
    let reason: String
    let place: String
    let ends: [Endpoint]
    fileprivate(set) var count = 0
    fileprivate(set) var last = Instant.zero

    fileprivate init(reason: String, place: String, ends: [Endpoint]) {
      (self.reason, self.place, self.ends) = (reason, place, ends)
    }
  }

  private struct Key: Hashable {
    let reason: String
    let subject: TraceSubject
    let from: Endpoint?
    let to: Endpoint?
  }

  private struct Group: Hashable {
    let reason: String
    let place: String
  }

  /// The number of flows beyond which endpoints are not distinguished.
  private static let flowLimit = 4_096

  /// The flows in order of first appearance.
  private(set) var flows: [Flow] = []
  private var known: [Key: (flow: Flow, series: Int)] = [:]
  private(set) var series: [RunStory.DropSeries] = []
  private var seriesIndex: [Group: Int] = [:]

  mutating func add(_ record: TraceRecord, _ reason: String, from: Endpoint, to: Endpoint, in trace: Trace) {
    let hasEnds = flows.count < Self.flowLimit
    let key = Key(
      reason: reason, subject: record.subject, from: hasEnds ? from : nil, to: hasEnds ? to : nil)
    if let old = known[key] { return count(old.flow, old.series, at: record.time) }
    let flow = Flow(reason: reason, place: trace.name(of: record.subject), ends: hasEnds ? [from, to] : [])
    flows.append(flow)
    let series = series(of: flow)
    known[key] = (flow, series)
    count(flow, series, at: record.time)
  }

  /// Adds a message that a rule dropped from a relay's TCP stream, where it is not a packet.
  mutating func addFromStream(_ record: TraceRecord, _ content: String, in trace: Trace) {
    let (reason, place) = ("rule, \(content) in a TCP stream", trace.name(of: record.subject))
    let old = flows.first { $0.reason == reason && $0.place == place }
    let flow = old ?? Flow(reason: reason, place: place, ends: [])
    if old == nil { flows.append(flow) }
    count(flow, series(of: flow), at: record.time)
  }

  private mutating func count(_ flow: Flow, _ index: Int, at time: Instant) {
    flow.count += 1
    flow.last = time
    series[index].counts.add(1, at: time)
  }

  private mutating func series(of flow: Flow) -> Int {
    let group = Group(reason: flow.reason, place: flow.place)
    if let index = seriesIndex[group] { return index }
    seriesIndex[group] = series.count
    series.append(.init(reason: flow.reason, place: flow.place, counts: .init()))
    return series.count - 1
  }
}
