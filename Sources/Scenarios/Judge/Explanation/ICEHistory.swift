internal import CallCore
internal import ScenarioFormat

/// How far ICE came at each peer, in its newest connection, or the newest to each other peer, before that was closed.
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

  /// By the trace subjects of connections.
  private var courses: [String: Course] = [:]
  private let subjects: [String: [String]]
  /// Whether every peer that has a connection had it connected at one time.
  private(set) var isSettled = false
  /// Told each time that it becomes so.
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

  // MARK: What became of it

  private func courses(of peer: String) -> [Course] { (subjects[peer] ?? []).compactMap { courses[$0] } }

  /// Whether a connection of the peer has no pair that works, and should have one by now.
  func isInTrouble(_ peer: String, hasFailedChecks: Bool) -> Bool {
    let courses = courses(of: peer)
    guard !courses.isEmpty else { return hasFailedChecks }
    return courses.contains { course in
      // Without a candidate of both sides no check is sent.
      !course.isConnected
        && (course.state == "checking" || hasFailedChecks || (course.state == "new" && course.isNegotiated))
    }
  }

  /// Whether ICE worked in each connection of the peer, and there is one.
  func wasConnected(_ peer: String) -> Bool {
    let courses = courses(of: peer)
    return !courses.isEmpty && courses.allSatisfy(\.wasConnected)
  }

  /// Whether it is known that ICE never worked there, in any connection.
  func neverWorked(_ peer: String) -> Bool {
    let courses = courses(of: peer)
    return !courses.isEmpty && !courses.contains(where: \.wasConnected)
  }

  /// When the last pair that worked was lost; nil where none worked.
  func lostAt(_ peer: String) -> Instant? { courses(of: peer).compactMap(\.lostAt).max() }

  /// When the last trouble of these peers began: the first time that one was not connected any more of those that still
  /// are not, or gave up.
  func trouble(of peers: [String]) -> Instant? {
    peers.flatMap { courses(of: $0) }.filter { !$0.isConnected }.compactMap(\.lostAt).min()
  }

  /// When the first of the peers gave up, or `time` where all go on.
  func end(of peers: [String], before time: Instant) -> Instant {
    peers.flatMap { courses(of: $0) }.compactMap(\.endedAt).filter { $0 < time }.min() ?? time
  }
}
