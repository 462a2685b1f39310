internal import Foundation

/// A program that is run to its end, or to a limit of time, with a bound on what is kept of its output.
enum BoundedProcess {
  enum Death: Equatable {
    case exit(WorkerProcess.Death)
    case timeout
    /// It could not be started.
    case failure(String)
  }

  struct End {
    var death: Death
    var output = ""
    var errors = ""
  }

  /// The number of bytes of each stream that are kept, the last ones.
  private static let outputLimit = 65_536

  /// Runs a command of a shell. At the limit it is killed with all that it has started.
  static func run(shell command: String, in folder: String, limit: Duration) -> End {
    guard let output = try? ChildPipe(), let errors = try? ChildPipe() else {
      return End(death: .failure("no pipe: \(String(cString: strerror(errno)))"))
    }
    defer { for end in [output.readEnd, errors.readEnd] { close(end) } }
    let child: pid_t
    do {
      defer { for end in [output.writeEnd, errors.writeEnd] { close(end) } }
      let words = ["/bin/sh", "-c", "cd \"$0\" && eval \"$1\"", folder, command]
      do throws(ChildProcess.Failure) {
        child = try ChildProcess.spawn(
          words, environment: ChildProcess.environment, input: nil, output: output.writeEnd, errors: errors.writeEnd)
      } catch {
        return End(death: .failure("cannot start a shell: \(error.message)"))
      }
    }
    var texts: [[UInt8]] = [[], []]
    var isOpen = [true, true]
    let deadline = ContinuousClock.now + limit
    var status: Int32 = 0
    var hasEnded = false
    while true {
      read([output.readEnd, errors.readEnd], into: &texts, &isOpen, wait: hasEnded ? 0 : 20)
      // What it started may hold the pipes open: only its own end counts.
      if hasEnded { break }
      hasEnded = waitpid(child, &status, WNOHANG) == child
      if !hasEnded, ContinuousClock.now >= deadline { break }
    }
    kill(-child, SIGKILL)
    if !hasEnded { while waitpid(child, &status, 0) < 0, errno == EINTR {} }
    let signal = status & 0x7F
    let death = signal != 0 ? WorkerProcess.Death.signal(signal) : .exit(status >> 8 & 0xFF)
    let words = texts.map { String(decoding: $0, as: UTF8.self) }
    return End(death: hasEnded ? .exit(death) : .timeout, output: words[0], errors: words[1])
  }

  /// Reads what is there, after waiting up to `wait` milliseconds for it.
  private static func read(_ ends: [Int32], into texts: inout [[UInt8]], _ isOpen: inout [Bool], wait: Int32) {
    var wait = wait
    // A program that prints without end must not keep its caller from looking at the time.
    for _ in 0..<64 {
      var descriptors = zip(ends, isOpen).map { pollfd(fd: $1 ? $0 : -1, events: Int16(POLLIN), revents: 0) }
      guard poll(&descriptors, nfds_t(descriptors.count), wait) > 0 else { return }
      for index in ends.indices where descriptors[index].revents != 0 {
        guard let bytes = ChildPipe.readSome(from: ends[index]) else {
          isOpen[index] = false
          continue
        }
        texts[index] += bytes
        texts[index].removeFirst(max(0, texts[index].count - outputLimit))
      }
      if !isOpen.contains(true) { return }
      wait = 0
    }
  }
}
