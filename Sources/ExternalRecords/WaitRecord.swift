public import CallCore

/// How long programs outside the simulation were ready to go on and got no processor.
///
/// What a program did says nothing about it while it had to wait: packets leave late, timers of its own run out. The lag
/// of the simulation tells nothing of that, because the simulation goes before others where it may.
public struct WaitRecord: Sendable {
  /// How often the programs are looked at.
  package static let period = Interval.milliseconds(250)
  /// Waits are added up over two periods: one that lies across a look counts as a whole.
  public static let window = period * 2
  /// Stands for all programs: what a virtual machine's host gives to others, every one of them may lack.
  public static let machine = "the machine"

  /// What became of one program.
  public struct Entry: Hashable, Sendable {
    public let program: String
    /// The most that a thread of it waited within the window.
    public var longest: Interval
    /// The end of the window in which that was.
    public var latest: Instant
    /// When it was first seen stopped, as by SIGSTOP.
    public var stopped: Instant?

    public init(program: String, longest: Interval = .zero, latest: Instant = .zero, stopped: Instant? = nil) {
      self.program = program
      self.longest = longest
      self.latest = latest
      self.stopped = stopped
    }
  }

  /// In the order in which they were first looked at.
  public private(set) var entries: [Entry] = []
  /// The total of each thread at the last look, and within the period before that.
  private var threads: [String: (total: Interval, recent: Interval)] = [:]

  public init() {}

  /// Takes in how long a thread of a program has waited since it began. The first time says from where to count: how long
  /// the program took to start is not its business in the run.
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

  /// Takes in that a process of a program does not run though nothing hinders it but a signal.
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
