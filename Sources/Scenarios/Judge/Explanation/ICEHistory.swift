internal import CallCore
internal import ScenarioFormat

/// The progress of ICE at each peer, in its newest connection, or the newest to each other peer, before that was
/// closed.
final class ICEHistory {
  private struct Course {
    var state: String
    /// The time of its failure or close.
    var endedAt: Instant?
    var wasConnected = false
    /// The time at which it was last disconnected.
    var lostAt: Instant?
    /// Whether both descriptions are set, so that ICE could begin.
    var isNegotiated = false
    var isConnected: Bool { ["connected", "completed"].contains(state) }
  }

  /// The courses by the trace subjects of connections.
  private var courses: [String: Course] = [:]
  private let subjects: [String: [String]]
  /// Whether all peers with a connection had it connected at one time.
  private(set) var isSettled = false
  /// Called each time that this becomes true.
  var onSettled: (() -> Void)?

  init(_ context: MonitorContext) {
    let watch = context.watch
    subjects = Dictionary(
      context.scenario.peers.map { ($0.name, $0.connectionSubjects) }, uniquingKeysWith: { first, _ in first })
    for subject in context.scenario.peers.flatMap(\.connectionSubjects) {
      watch.listen(to: PeerConnectionEvents.iceState, of: subject) { [unowned self] record, state, _ in
        enter(state, subject, at: record.time)
      }
      watch.listen(to: PeerConnectionEvents.signalingState, of: subject) { [unowned self] _, state, old in
        if old != "stable", state == "stable" { courses[subject]?.isNegotiated = true }
      }
    }
  }

  private func enter(_ state: String, _ subject: String, at time: Instant) {
    guard state != "new", var course = courses[subject] else {
      if state != "closed" { begin(state, subject) }
      return
    }
    if state == "closed" || state == "failed", course.endedAt == nil { course.endedAt = time }
    if state != "closed" {
      if course.isConnected { course.lostAt = time }
      course.state = state
      if course.isConnected { (course.wasConnected, course.endedAt) = (true, nil) }
    }
    courses[subject] = course
    settle()
  }

  private func begin(_ state: String, _ subject: String) {
    var course = Course(state: state)
    course.wasConnected = course.isConnected
    courses[subject] = course
    isSettled = false
    settle()
  }

  private func settle() {
    guard !isSettled, courses.values.allSatisfy(\.isConnected) else { return }
    isSettled = true
    onSettled?()
  }

  // MARK: Outcome

  private func courses(of peer: String) -> [Course] { (subjects[peer] ?? []).compactMap { courses[$0] } }

  /// Returns whether a connection of the peer has no working pair, and should have one by now.
  func isInTrouble(_ peer: String, hasFailedChecks: Bool) -> Bool {
    let courses = courses(of: peer)
    guard !courses.isEmpty else { return hasFailedChecks }
    return courses.contains { course in
      // No check is sent without candidates of both sides.
      !course.isConnected
        && (course.state == "checking" || hasFailedChecks || (course.state == "new" && course.isNegotiated))
    }
  }

  /// Returns whether the peer has connections, and ICE worked in each.
  func wasConnected(_ peer: String) -> Bool {
    let courses = courses(of: peer)
    return !courses.isEmpty && courses.allSatisfy(\.wasConnected)
  }

  /// Returns whether it is known that ICE never worked in any connection of the peer.
  func neverWorked(_ peer: String) -> Bool {
    let courses = courses(of: peer)
    return !courses.isEmpty && !courses.contains(where: \.wasConnected)
  }

  /// Returns the time at which the last working pair was lost; nil if none worked.
  func lostAt(_ peer: String) -> Instant? { courses(of: peer).compactMap(\.lostAt).max() }

  /// Returns the start of the last trouble of these peers: the earliest disconnection or failure of those that are
  /// still not connected.
  func trouble(of peers: [String]) -> Instant? {
    peers.flatMap { courses(of: $0) }.filter { !$0.isConnected }.compactMap(\.lostAt).min()
  }

  /// Returns the time at which the first of the peers gave up, or `time` if none did.
  func end(of peers: [String], before time: Instant) -> Instant {
    peers.flatMap { courses(of: $0) }.compactMap(\.endedAt).filter { $0 < time }.min() ?? time
  }
}
