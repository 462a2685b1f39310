internal import CallCore
internal import Statistics
internal import VirtualPeer

/// Reports on the connection to an opponent at the interval that the app has set, from the first time it stands on.
final class StatsReporter {
  private let connection: any PeerConnection
  private let clock: PeerClock
  private let interval: Interval
  private let onReport: (ConnectionReport) -> Void
  private var last: (report: StatsReport, time: Instant)
  private var timer: PeerTimer?

  init(
    _ connection: any PeerConnection, every interval: Interval, by clock: PeerClock,
    onReport: @escaping (ConnectionReport) -> Void
  ) {
    self.connection = connection
    self.clock = clock
    self.interval = interval
    self.onReport = onReport
    last = (connection.statistics(), clock.now)
    scheduleNext()
  }

  private func scheduleNext() {
    timer = clock.schedule(after: interval) { [weak self] in self?.report() }
  }

  private func report() {
    scheduleNext()
    let now = (report: connection.statistics(), time: clock.now)
    let report = ConnectionReport(now.report, since: last.report, after: now.time - last.time)
    last = now
    onReport(report)
  }

  func stop() { timer?.cancel() }
}
