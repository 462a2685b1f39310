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
      switch spawn(words, output: output.writeEnd, errors: errors.writeEnd) {
      case .success(let started): child = started
      case .failure(let error): return End(death: .failure("cannot start a shell: \(error.message)"))
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

  private struct SpawnError: Error { var message: String }

  /// Starts a program in a process group of its own, without input.
  private static func spawn(_ words: [String], output: Int32, errors: Int32) -> Result<pid_t, SpawnError> {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)
    var vector: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    var environment: [UnsafeMutablePointer<CChar>?] = ProcessInfo.processInfo.environment.sorted { $0.key < $1.key }
      .map { strdup("\($0.key)=\($0.value)") }
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
      for pointer in vector + environment { free(pointer) }
    }
    vector.append(nil)
    environment.append(nil)
    var child: pid_t = 0
    let status = posix_spawn(&child, words[0], &actions, &attributes, vector, environment)
    return status == 0 ? .success(child) : .failure(SpawnError(message: String(cString: strerror(status))))
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
