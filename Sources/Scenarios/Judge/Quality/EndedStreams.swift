internal import Statistics

/// The last statistics of the streams of a connection that have ended, and of what they carried.
///
/// A report has the streams and the sources of the present (W3C webrtc-stats section 8.3). Their counters stay in the sums over a connection's
/// streams until it is closed: where a participant leaves, nothing that was received is taken back.
struct EndedStreams {
  private(set) var entries: [StatsReport.Entry] = []
  private var present: [StatsReport.Entry] = []
  /// What the connection's transport had received: a connection that takes the place of another begins at zero.
  private var received: Double = 0

  /// Takes the next report of the connection.
  mutating func take(_ report: StatsReport) {
    let received = report.first("transport")?.number("packetsReceived") ?? 0
    if received < self.received { self = EndedStreams() }
    self.received = received
    let streams = report.entries.filter { $0.type.hasSuffix("-rtp") || $0.type == "media-source" }
    defer { present = streams }
    guard !present.isEmpty || !entries.isEmpty else { return }
    let begun = streams.filter { stream in !present.contains { $0.id == stream.id } }
    entries.removeAll { ended in begun.contains { $0.id == ended.id && $0.goesOn(after: ended) } }
    entries += present.filter { old in !streams.contains { $0.id == old.id } }
  }
}

extension StatsReport.Entry {
  /// Whether it counts on where an earlier object of the stream stopped.
  fileprivate func goesOn(after earlier: Self) -> Bool {
    ["packetsReceived", "packetsSent", "frames", "totalSamplesDuration"].allSatisfy {
      (number($0) ?? 0) >= (earlier.number($0) ?? 0)
    }
  }
}
