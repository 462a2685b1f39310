internal import CallCore
internal import ExternalRecords
internal import Glibc

/// Samples from /proc how long the programs of a run have waited for a processor.
final class StarvationWatch {
  private var programs: [(name: String, program: ChildProgram)] = []
  private(set) var record = WaitRecord()
  private(set) var nextLook = Instant.zero

  /// Starts to sample a program.
  func add(_ program: ChildProgram, named name: String) { programs.append((name, program)) }

  func remove(_ program: ChildProgram) { programs.removeAll { $0.program === program } }

  var isNeeded: Bool { !programs.isEmpty }

  func look(at time: Instant) {
    nextLook = time + WaitRecord.period
    for (name, program) in programs {
      guard let supervisor = program.processNumber else { continue }
      // The supervisor waits for the program's end and does nothing else.
      let niceness = ProcessTree.niceness(of: supervisor)
      for process in ProcessTree.children(of: supervisor) { look(at: process, niceness, of: name, time) }
    }
    guard isNeeded else { return }
    for (processor, stolen) in ProcessTree.stolen() {
      record.add(stolen, thread: processor, of: WaitRecord.machine, at: time)
    }
  }

  /// - Parameter niceness: the program's initial niceness. A thread with a higher one yields to others on purpose, so
  ///   its waits do not count.
  private func look(at process: pid_t, _ niceness: Int32, of name: String, _ time: Instant) {
    if ProcessTree.isStopped(process) { record.addStop(of: name, at: time) }
    for thread in ProcessTree.threads(of: process) {
      if ProcessTree.niceness(of: thread) <= niceness, let waited = ProcessTree.waited(process, thread: thread) {
        record.add(waited, thread: "\(thread)", of: name, at: time)
      }
      for child in ProcessTree.children(of: process, thread: thread) { look(at: child, niceness, of: name, time) }
    }
  }
}
