internal import CallCore

/// The candidate pairs that each connection sends over.
struct StoryPairs {
  typealias End = PeerConnectionEvents.PairEnd

  /// The known properties of the candidate at one end.
  struct Candidate {
    var type: String?
    var address: String?
    var port: Int?
    /// The transport to the relay at the local end.
    var relayProtocol: String?

    fileprivate var text: String {
      let relay = relayProtocol.flatMap { $0 == "none" ? nil : " over \($0)" } ?? ""
      return [type, address].compactMap(\.self).joined(separator: " ") + (port.map { ":\($0)" } ?? "") + relay
    }
  }

  private var all = Bounded<RunStory.PairInterval>(limit: 128)
  private var candidates: [String: [End: Candidate]] = [:]
  private var open: [RunStory.PairInterval] = []

  mutating func set<Value>(
    _ member: WritableKeyPath<Candidate, Value?>, _ value: Value, at end: End, of subject: String
  ) {
    candidates[subject, default: [:]][end, default: Candidate()][keyPath: member] = value
  }

  /// Begins a pair after both of its candidates are known.
  mutating func complete(_ subject: String, at time: Instant) {
    let known = candidates[subject] ?? [:]
    let (local, remote) = (known[.local]?.text ?? "", known[.remote]?.text ?? "")
    if open.contains(where: { $0.subject == subject && $0.local == local && $0.remote == remote }) { return }
    close(at: time) { $0 == subject }
    open.append(.init(subject: subject, local: local, remote: remote, start: time))
  }

  /// Ends the pairs of a participant without open connections.
  mutating func closeAll(of participant: String, at time: Instant) {
    close(at: time) { RunStory.isSubject($0, of: participant) }
  }

  private mutating func close(at time: Instant, where isMeant: (String) -> Bool) {
    for index in open.indices.reversed() where isMeant(open[index].subject) {
      var pair = open.remove(at: index)
      pair.end = time
      all.append(pair)
    }
  }

  /// The pairs that are over, then those in use.
  var story: Bounded<RunStory.PairInterval> {
    var all = all
    for pair in open { all.append(pair) }
    return all
  }
}
