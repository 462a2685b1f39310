internal import CallCore

/// Which pair of candidates each connection sends over.
struct StoryPairs {
  private var all = Bounded<RunStory.PairInterval>(limit: 128)
  /// What is known of each subject's pair, by the names of values.
  private var values: [String: [String: String]] = [:]
  private var open: [RunStory.PairInterval] = []

  mutating func set(_ record: TraceRecord, in trace: Trace) {
    let (subject, name) = (trace.name(of: record.subject), trace.declarations[Int(record.kind.id)].name)
    values[subject, default: [:]][name] = trace.datum(at: 0, of: record).description
    // The port of the remote candidate is the last of a pair to be written.
    guard name == "selected.remote.port" else { return }
    let (local, remote) = (candidate("local", of: subject), candidate("remote", of: subject))
    if open.contains(where: { $0.subject == subject && $0.local == local && $0.remote == remote }) { return }
    close(at: record.time) { $0 == subject }
    open.append(.init(subject: subject, local: local, remote: remote, start: record.time))
  }

  /// A peer without connections has no pair.
  mutating func count(_ record: TraceRecord, in trace: Trace) {
    guard trace.datum(at: 0, of: record) == .integer(0) else { return }
    let subject = trace.name(of: record.subject)
    close(at: record.time) { RunStory.isSubject($0, of: subject) }
  }

  private mutating func close(at time: Instant, where isMeant: (String) -> Bool) {
    for index in open.indices.reversed() where isMeant(open[index].subject) {
      var pair = open.remove(at: index)
      pair.end = time
      all.append(pair)
    }
  }

  private func candidate(_ side: String, of subject: String) -> String {
    let known = values[subject] ?? [:]
    let members = ["candidateType", "address"].compactMap { known["selected.\(side).\($0)"] }
    let port = known["selected.\(side).port"].map { ":\($0)" } ?? ""
    let relay = side == "local" ? known["selected.relayProtocol"].flatMap { $0 == "none" ? nil : " over \($0)" } : nil
    return members.joined(separator: " ") + port + (relay ?? "")
  }

  /// Those that are over, then those that are in use.
  var story: Bounded<RunStory.PairInterval> {
    var all = all
    for pair in open { all.append(pair) }
    return all
  }
}
