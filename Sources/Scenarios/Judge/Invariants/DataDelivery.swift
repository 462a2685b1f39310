internal import CallCore
internal import ScenarioFormat

/// A reliable data channel delivers every message once, in order unless it is unordered, and as it was sent; an
/// unreliable one delivers none twice (RFC 8831 section 6.6).
final class DataDelivery {
  /// The time that a message may take once the network is well: retransmissions back off to 3 s.
  static let grace = Interval.seconds(10)

  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.report = report
    let channels = context.scenario.dataChannelLabels.compactMap { context.scenario.dataChannel($0) }
    guard !channels.isEmpty else { return }
    for subject in context.scenario.peers.flatMap(\.connectionSubjects) {
      context.watch.listen(to: DataChannelEvents.delivered, of: subject) { [unowned self] record, label, number, word in
        guard let channel = channels.first(where: { $0.label == label }),
          let verdict = DataChannelEvents.Verdict(rawValue: word)
        else { return }
        take(verdict, number, on: channel, at: subject, record.time)
      }
      context.watch.listen(to: DataChannelEvents.closedByPeer, of: subject) { [unowned self] record, label, missing in
        guard missing > 0, channels.contains(where: { $0.label == label && $0.isReliable }) else { return }
        tell(
          "the other side closed '\(label)' before \(Wording.count(missing, "message")) of it came to \(subject)",
          record.time)
      }
    }
  }

  private func take(
    _ verdict: DataChannelEvents.Verdict, _ number: Int, on channel: Scenario.DataChannel, at subject: String,
    _ time: Instant
  ) {
    let what = "message \(number) on '\(channel.label)'"
    switch verdict {
    case .next: break
    case .early where channel.ordered && channel.isReliable: tell("\(subject) got \(what) before an earlier one", time)
    case .late where channel.ordered: tell("\(subject) got \(what) after a later one", time)
    case .early, .late: break
    case .repeated: tell("\(subject) got a message on '\(channel.label)' twice", time)
    case .unknown: tell("\(subject) got a message on '\(channel.label)' that nobody sent so", time)
    }
  }

  /// Judges the messages that have not come when the network was well for long enough.
  func check(_ overdue: [(peer: String, label: String, count: Int)], at time: Instant) {
    for (peer, label, count) in overdue {
      tell("\(Wording.count(count, "message")) of \(peer) on '\(label)' never came", time)
    }
  }

  private func tell(_ what: String, _ time: Instant) {
    report(Violation(.dataDelivery, at: time, actual: "\(what), at \(Wording.time(time))"))
  }
}
