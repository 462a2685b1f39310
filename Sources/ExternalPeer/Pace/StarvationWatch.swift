internal import CallCore
internal import ExternalRecords
internal import Glibc

/// Looks from time to time how long the programs of a run have waited for a processor, by what Linux keeps in /proc.
final class StarvationWatch {
  private var programs: [(name: String, program: ChildProgram)] = []
  private(set) var record = WaitRecord()
  private(set) var nextLook = Instant.zero

  /// From now on what the program does counts.
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

  /// - Parameter niceness: what the program was started with. A thread with a higher one has asked to go behind others, and
  ///   that it waits is what it wants.
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
