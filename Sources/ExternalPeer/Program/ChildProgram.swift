internal import CNamespace
internal import CallCore
internal import ExternalRecords
internal import Glibc

/// A program in a namespace, with the lines that it reads and writes. The processes that it has started end with it.
final class ChildProgram {
  /// The way in which the program ended.
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

  /// The limit for one line, and the limit for the kept tail of each output, in bytes.
  private let lineLimit: Int
  private static let tailLimit = 1 << 18
  /// The number of reads of 64 KiB in one call: a program that writes without end must not stop the clock.
  static let readLimit = 8

  let command: [String]
  /// The parent process of the program, which reports the program's end.
  private let supervisor: pid_t
  /// A descriptor that is readable once the program has ended, even if another process has its output open.
  let endDescriptor: Int32
  private let input: ProgramPipe
  private let output: ProgramPipe
  private let errors: ProgramPipe
  private var unsent: [UInt8] = []
  /// Whether the input is closed once `unsent` is written.
  private var closesInput = false
  private var received: [UInt8] = []
  /// The start of the next line in `received`, and the offset up to which no line end was found.
  private var lineStart = 0
  private var scanned = 0
  /// The number of bytes since the last line end.
  private var unfinished = 0
  private var outputTail: [UInt8] = []
  private var errorTail: [UInt8] = []
  private(set) var isOutputOpen = true
  private(set) var areErrorsOpen = true
  private(set) var ending: Ending?
  private var isStopped = false

  /// - Parameter space: nil for a program that needs no network; processes that it starts may then outlive it.
  init(
    _ command: [String], environment: [String], in space: NetworkNamespace?, lineLimit: Int = 16 << 20
  ) throws(ExternalError) {
    self.lineLimit = lineLimit
    // A write to a program that has ended must fail with EPIPE, not raise SIGPIPE.
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
    stop(timeout: .zero)
    if endDescriptor >= 0 { close(endDescriptor) }
  }

  /// Returns the environment of a program: the listed variables of our own, and `variables`, as `NAME=value`.
  ///
  /// A scenario file names the program, and the program's output goes into reports, so it must not see the secrets in a
  /// build server's environment.
  static func environment(with variables: [String]) -> [String] {
    let inherited = inheritedEnvironment
    let wanted = passedNames(in: inherited)
    let names = variables.map { $0.prefix { $0 != "=" } }
    return inherited.filter { entry in
      let name = entry.prefix { $0 != "=" }
      return !names.contains(name) && (name.hasPrefix("LC_") || wanted.contains(String(name)))
    } + variables
  }

  /// The names of the variables that programs inherit: search paths, user, language and display.
  static let passedNames = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
    "LD_LIBRARY_PATH",
  ]

  /// Returns the inherited names, with those that the user adds in ``ExternalSupport/passVariable``.
  private static func passedNames(in environment: [String]) -> [String] {
    let prefix = ExternalSupport.passVariable + "="
    let added = environment.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count) ?? ""
    return passedNames + added.split(separator: ",").map(String.init)
  }

  /// The environment of this process, as `NAME=value`.
  static var inheritedEnvironment: [String] {
    var variables: [String] = []
    var pointer = environ
    while let entry = pointer.pointee {
      variables.append(String(cString: entry))
      pointer += 1
    }
    return variables
  }

  /// The process id of the supervisor; nil once the program has ended.
  var processNumber: pid_t? { isStopped || ending != nil ? nil : supervisor }
  var outputDescriptor: Int32 { output.readEnd }
  var errorDescriptor: Int32 { errors.readEnd }

  // MARK: Lines

  /// Writes a line, as far as the pipe has room for it; ``flush()`` writes the rest.
  func send(_ line: String) {
    unsent += Array(line.utf8)
    unsent.append(UInt8(ascii: "\n"))
    flush()
  }

  /// - Returns: whether nothing is left to write: everything is written, or the program has closed its input.
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

  /// Reads the program's output and errors, at most `readLimit` blocks of each.
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

  /// Returns the next complete line of the output read so far.
  func nextLine() -> [UInt8]? {
    guard let end = received[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
      scanned = received.count
      return nil
    }
    defer { (lineStart, scanned) = (end + 1, end + 1) }
    return Array(received[lineStart..<end])
  }

  /// - Parameter ending: the way in which the program ended by itself, as text.
  func account(name: String, ending: String?) -> ProgramAccount {
    receiveErrors()
    return ProgramAccount(name: name, ending: ending, output: outputTail, errors: errorTail)
  }

  /// Waits until the program has written something, can take unsent input, or has ended, at most for `time`.
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

  // MARK: Exit

  /// Checks whether the program has ended.
  ///
  /// - Returns: the way in which it ended, or nil while it runs.
  @discardableResult
  func reap() -> Ending? {
    guard ending == nil else { return ending }
    var status: Int32 = 0
    let count = read(endDescriptor, &status, MemoryLayout<Int32>.size)
    let signal = status & 0x7F
    if count > 0 { ending = signal != 0 ? .signal(signal) : .exit(status >> 8 & 0xFF) }
    // A supervisor that ended without a report was killed, and the program with it.
    if count == 0 { ending = .signal(SIGKILL) }
    return ending
  }

  /// Waits up to 200 ms for the end of a program that has closed its output, which happens just before its end.
  func awaitEnd() -> Ending? {
    var end = pollfd(fd: endDescriptor, events: Int16(POLLIN), revents: 0)
    if ending == nil { _ = poll(&end, 1, 200) }
    return reap()
  }

  /// Closes the input once everything is written, which ends a well-behaved program.
  func closeInput() { if flush() { input.closeWriteEnd() } else { closesInput = true } }

  /// Closes the input, waits for the program's end up to `timeout`, then kills it and all processes it has started.
  func stop(timeout: Interval) {
    guard !isStopped else { return }
    isStopped = true
    closeInput()
    let start = MonotonicClock.now
    while reap() == nil, MonotonicClock.now - start < timeout {
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
