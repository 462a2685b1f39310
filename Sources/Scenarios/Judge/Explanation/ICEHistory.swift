internal import CallCore
internal import ScenarioFormat

/// How far ICE came at each peer, in its newest connection and before that was closed.
final class ICEHistory {
  private struct Course {
    var state: String
    /// When it failed, or was closed.
    var endedAt: Instant?
    var wasConnected = false
    /// When it last ceased to be connected.
    var lostAt: Instant?
    /// Whether both descriptions are there, so that ICE could begin.
    var isNegotiated = false
    var isConnected: Bool { ["connected", "completed"].contains(state) }
  }

  private var courses: [String: Course] = [:]
  /// Whether every peer that has a connection had it connected at one time.
  private(set) var isSettled = false
  /// Told each time that it becomes so.
  var onSettled: (() -> Void)?

  init(_ context: MonitorContext) {
    let watch = context.watch
    for peer in context.scenario.peers.map(\.name) {
      watch.listen(to: PeerConnectionEvents.iceState, of: peer) { [unowned self] record, state, _ in
        enter(state, peer, at: record.time)
      }
      watch.listen(to: PeerConnectionEvents.signalingState, of: peer) { [unowned self] _, state, old in
        if old != "stable", state == "stable" { courses[peer]?.isNegotiated = true }
      }
    }
  }

  private func enter(_ state: String, _ peer: String, at time: Instant) {
    guard state != "new", var course = courses[peer] else {
      if state != "closed" { begin(state, peer) }
      return
    }
    if state == "closed" || state == "failed", course.endedAt == nil { course.endedAt = time }
    if state != "closed" {
      if course.isConnected { course.lostAt = time }
      course.state = state
      if course.isConnected { (course.wasConnected, course.endedAt) = (true, nil) }
    }
    courses[peer] = course
    settle()
  }

  private func begin(_ state: String, _ peer: String) {
    var course = Course(state: state)
    course.wasConnected = course.isConnected
    courses[peer] = course
    isSettled = false
    settle()
  }

  private func settle() {
    guard !isSettled, courses.values.allSatisfy(\.isConnected) else { return }
    isSettled = true
    onSettled?()
  }

  // MARK: What became of it

  /// Whether the peer has no pair that works, and should have one by now.
  func isInTrouble(_ peer: String, hasFailedChecks: Bool) -> Bool {
    guard let course = courses[peer] else { return hasFailedChecks }
    guard !course.isConnected else { return false }
    // Without a candidate of both sides no check is sent.
    return course.state == "checking" || hasFailedChecks || (course.state == "new" && course.isNegotiated)
  }

  func wasConnected(_ peer: String) -> Bool { courses[peer]?.wasConnected ?? false }

  /// Whether it is known that ICE never worked there.
  func neverWorked(_ peer: String) -> Bool { courses[peer].map { !$0.wasConnected } ?? false }

  /// When the pair that worked was lost; nil where none worked.
  func lostAt(_ peer: String) -> Instant? { courses[peer]?.lostAt }

  /// When the last trouble of these peers began: the first time that one was not connected any more of those that still
  /// are not, or gave up.
  func trouble(of peers: [String]) -> Instant? {
    peers.compactMap { courses[$0] }.filter { !$0.isConnected }.compactMap(\.lostAt).min()
  }

  /// When the first of the peers gave up, or `time` where all go on.
  func end(of peers: [String], before time: Instant) -> Instant {
    peers.compactMap { courses[$0]?.endedAt }.filter { $0 < time }.min() ?? time
  }
}
