internal import CNamespace
internal import CallCore
internal import ExternalRecords
internal import Glibc

/// A program in a namespace, and the lines it reads and writes. What it has started ends with it.
final class ChildProgram {
  /// How it ended.
  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)

    var description: String {
      switch self {
      case .exit(let code): "ended with exit code \(code)"
      case .signal(let number): "was ended by signal \(number) (\(String(cString: strsignal(number))))"
      }
    }
  }

  /// How much of a line is waited for, and how much of what it wrote is kept.
  private let lineLimit: Int
  private static let tailLimit = 1 << 18
  /// How much is taken in at once, in reads of 64 KiB: a program that never stops talking does not stop the clock.
  static let readLimit = 8

  let command: [String]
  /// The process above the program, which tells of its end.
  private let supervisor: pid_t
  /// Readable once the program itself has ended, whoever else has its output open.
  let endDescriptor: Int32
  private let input: ProgramPipe
  private let output: ProgramPipe
  private let errors: ProgramPipe
  private var unsent: [UInt8] = []
  /// Nothing will be sent after what is unsent.
  private var closesInput = false
  private var received: [UInt8] = []
  /// Where in it the next line begins, and up to where there is no end of it.
  private var lineStart = 0
  private var scanned = 0
  /// How much has come since the last end of a line.
  private var unfinished = 0
  private var outputTail: [UInt8] = []
  private var errorTail: [UInt8] = []
  private(set) var isOutputOpen = true
  private(set) var areErrorsOpen = true
  private(set) var ending: Ending?
  private var isStopped = false

  /// - Parameter space: nil for a program that needs no network; what it starts may outlive it.
  init(
    _ command: [String], environment: [String], in space: NetworkNamespace?, lineLimit: Int = 16 << 20
  ) throws(ExternalError) {
    self.lineLimit = lineLimit
    // A program that is gone shows in its pipes, not as a signal.
    signal(SIGPIPE, SIG_IGN)
    self.command = command
    (input, output, errors) = (try ProgramPipe(), try ProgramPipe(), try ProgramPipe())
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
    defer { for pointer in arguments + variables { free(pointer) } }
    arguments.append(nil)
    variables.append(nil)
    var end: Int32 = -1
    supervisor = callsim_namespace_spawn(
      space?.descriptor ?? -1, space?.folder, arguments, variables,
      [input.readEnd, output.writeEnd, errors.writeEnd], &end)
    endDescriptor = end
    guard supervisor > 0 else {
      isStopped = true
      let reason = ExternalError.text(ofCode: supervisor) + (supervisor == -EPERM ? "; it takes root" : "")
      throw ExternalError(.unavailable, "'\(command.first ?? "")' cannot be started: \(reason)")
    }
    input.closeReadEnd()
    output.closeWriteEnd()
    errors.closeWriteEnd()
    for end in [input.writeEnd, output.readEnd, errors.readEnd] { ProgramPipe.makeNonBlocking(end) }
  }

  deinit {
    stop(patience: .zero)
    if endDescriptor >= 0 { close(endDescriptor) }
  }

  /// What a program is given of our own environment, with these variables in it, as `NAME=value`.
  ///
  /// Only what is on the list: a scenario file names the program, and what it prints goes into reports, so it must not
  /// see the secrets that a build server hands out in the environment.
  static func environment(with variables: [String]) -> [String] {
    let inherited = inheritedEnvironment
    let wanted = passedNames(in: inherited)
    let names = variables.map { $0.prefix { $0 != "=" } }
    return inherited.filter { entry in
      let name = entry.prefix { $0 != "=" }
      return !names.contains(name) && (name.hasPrefix("LC_") || wanted.contains(String(name)))
    } + variables
  }

  /// Where programs are, how they speak, and where they show themselves.
  static let passedNames = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
    "LD_LIBRARY_PATH",
  ]

  /// The list, and what whoever runs callsim adds to it.
  private static func passedNames(in environment: [String]) -> [String] {
    let prefix = ExternalSupport.passVariable + "="
    let added = environment.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count) ?? ""
    return passedNames + added.split(separator: ",").map(String.init)
  }

  /// The environment of this program, as `NAME=value`.
  static var inheritedEnvironment: [String] {
    var variables: [String] = []
    var pointer = environ
    while let entry = pointer.pointee {
      variables.append(String(cString: entry))
      pointer += 1
    }
    return variables
  }

  /// The process above the program while that runs.
  var processNumber: pid_t? { isStopped || ending != nil ? nil : supervisor }
  var outputDescriptor: Int32 { output.readEnd }
  var errorDescriptor: Int32 { errors.readEnd }

  // MARK: Lines

  /// Writes a line, or as much of it as the program takes now; the rest goes with the next call of ``flush()``.
  func send(_ line: String) {
    unsent += Array(line.utf8)
    unsent.append(UInt8(ascii: "\n"))
    flush()
  }

  /// - Returns: whether everything has been taken, or never will be.
  @discardableResult
  func flush() -> Bool {
    guard !unsent.isEmpty else { return true }
    guard input.writeEnd >= 0, let count = input.write(unsent) else {
      unsent.removeAll()
      return true
    }
    unsent.removeFirst(count)
    if unsent.isEmpty, closesInput { input.closeWriteEnd() }
    return unsent.isEmpty
  }

  /// Takes in what the program has written since, or the first of it when that is much.
  func receive() {
    received.removeFirst(lineStart)
    scanned -= lineStart
    lineStart = 0
    for _ in 0..<Self.readLimit {
      guard isOutputOpen, let bytes = output.read() else { break }
      received += bytes
      Self.keep(bytes, in: &outputTail)
      let end = bytes.lastIndex(of: UInt8(ascii: "\n"))
      unfinished = end.map { bytes.count - 1 - $0 } ?? unfinished + bytes.count
      if bytes.isEmpty || unfinished > lineLimit { isOutputOpen = false }
    }
    receiveErrors()
  }

  private func receiveErrors() {
    for _ in 0..<Self.readLimit {
      guard areErrorsOpen, let bytes = errors.read() else { return }
      if bytes.isEmpty { areErrorsOpen = false }
      Self.keep(bytes, in: &errorTail)
    }
  }

  private static func keep(_ bytes: [UInt8], in tail: inout [UInt8]) {
    tail += bytes
    if tail.count > tailLimit { tail.removeFirst(tail.count - tailLimit) }
  }

  /// The next whole line of what was taken in.
  func nextLine() -> [UInt8]? {
    guard let end = received[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
      scanned = received.count
      return nil
    }
    defer { (lineStart, scanned) = (end + 1, end + 1) }
    return Array(received[lineStart..<end])
  }

  /// - Parameter ending: how it ended of its own accord, in words.
  func account(name: String, ending: String?) -> ProgramAccount {
    receiveErrors()
    return ProgramAccount(name: name, ending: ending, output: outputTail, errors: errorTail)
  }

  /// Waits until the program has written something, takes what it is owed, or has ended, at most so long.
  func wait(_ time: Interval) {
    var descriptors = [
      pollfd(fd: isOutputOpen ? output.readEnd : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: areErrorsOpen ? errors.readEnd : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: unsent.isEmpty ? -1 : input.writeEnd, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: ending == nil ? endDescriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: max(0, time.milliseconds)))
    flush()
  }

  // MARK: The end

  /// Notices that the program has ended.
  ///
  /// - Returns: how, or nil while it runs.
  @discardableResult
  func reap() -> Ending? {
    guard ending == nil else { return ending }
    var status: Int32 = 0
    let count = read(endDescriptor, &status, MemoryLayout<Int32>.size)
    let signal = status & 0x7F
    if count > 0 { ending = signal != 0 ? .signal(signal) : .exit(status >> 8 & 0xFF) }
    // A supervisor that has told nothing was killed, and the program with it.
    if count == 0 { ending = .signal(SIGKILL) }
    return ending
  }

  /// Waits a moment for the end of a program that has closed its output: the one comes just before the other.
  func awaitEnd() -> Ending? {
    var end = pollfd(fd: endDescriptor, events: Int16(POLLIN), revents: 0)
    if ending == nil { _ = poll(&end, 1, 200) }
    return reap()
  }

  /// Says that nothing more comes, which ends a well-behaved program, once it has taken what was sent.
  func closeInput() { if flush() { input.closeWriteEnd() } else { closesInput = true } }

  /// Asks the program to end, gives it so long, and then ends it with all it has started.
  func stop(patience: Interval) {
    guard !isStopped else { return }
    isStopped = true
    closeInput()
    let start = MonotonicClock.now
    while reap() == nil, MonotonicClock.now - start < patience {
      receive()
      while nextLine() != nil {}
      wait(.milliseconds(50))
    }
    kill(supervisor, SIGKILL)
    while waitpid(supervisor, nil, 0) < 0, errno == EINTR {}
    reap()
    receive()
  }
}
