public import CallCore

/// The times in which external programs were ready to run and had no processor.
///
/// A waiting program sends packets late and its timers run out, so its behaviour proves nothing. The simulation's own
/// lag does not show these waits, because the simulation has priority over other threads where the machine allows it.
public struct WaitRecord: Sendable {
  /// The sampling period.
  package static let period = Interval.milliseconds(250)
  /// The window over which waits are summed: two periods, so that a wait across a sample counts as a whole.
  public static let window = period * 2
  /// The entry name for all programs: any of them may lack the time that a virtual machine's host gives to others.
  public static let machine = "the machine"

  /// The waits of one program.
  public struct Entry: Hashable, Sendable {
    /// The name of the program's peer.
    public let program: String
    /// The longest wait of one of its threads within a window.
    public var longest: Interval
    /// The end of that window.
    public var latest: Instant
    /// The time at which it was first seen stopped, for example by SIGSTOP.
    public var stopped: Instant?

    package init(program: String, longest: Interval = .zero, latest: Instant = .zero, stopped: Instant? = nil) {
      self.program = program
      self.longest = longest
      self.latest = latest
      self.stopped = stopped
    }
  }

  /// The programs, in the order of their first sample.
  package private(set) var entries: [Entry] = []
  /// The total wait of each thread at the last sample, and its wait within the period before that.
  private var threads: [String: (total: Interval, recent: Interval)] = [:]

  package init() {}

  /// Adds a sample: the time for which a thread of a program has waited since it began. The first sample is the
  /// baseline, because waits during the program's start do not belong to the run.
  package mutating func add(_ total: Interval, thread: String, of program: String, at time: Instant) {
    let index = index(of: program)
    guard let before = threads[thread] else {
      threads[thread] = (total, .zero)
      return
    }
    let recent = max(.zero, total - before.total)
    threads[thread] = (total, recent)
    let waited = before.recent + recent
    if waited > entries[index].longest { (entries[index].longest, entries[index].latest) = (waited, time) }
  }

  /// Records that a signal has stopped a process of a program.
  package mutating func addStop(of program: String, at time: Instant) {
    let index = index(of: program)
    if entries[index].stopped == nil { entries[index].stopped = time }
  }

  private mutating func index(of program: String) -> Int {
    if let index = entries.firstIndex(where: { $0.program == program }) { return index }
    entries.append(Entry(program: program))
    return entries.count - 1
  }
}
