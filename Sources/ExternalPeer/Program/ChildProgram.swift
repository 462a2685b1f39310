internal import CNamespace
internal import CallCore
internal import Glibc

/// A program in a namespace, and the lines it reads and writes.
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

  /// How much of a line, or of standard error, is kept.
  private static let lineLimit = 16 << 20
  private static let errorLimit = 16_384

  let command: [String]
  private let space: NetworkNamespace?
  private let process: pid_t
  private let input: ProgramPipe
  private let output: ProgramPipe
  private let errors: ProgramPipe
  private var unsent: [UInt8] = []
  private var received: [UInt8] = []
  private var scanned = 0
  private var errorTail: [UInt8] = []
  private(set) var isOutputOpen = true
  private(set) var areErrorsOpen = true
  private(set) var ending: Ending?

  init(_ command: [String], environment: [String], in space: NetworkNamespace?) throws(ExternalError) {
    // A program that is gone shows in its pipes, not as a signal.
    signal(SIGPIPE, SIG_IGN)
    self.command = command
    self.space = space
    (input, output, errors) = (try ProgramPipe(), try ProgramPipe(), try ProgramPipe())
    process = try NetworkNamespace.spawn(
      command, in: space, environment: environment, input: input.readEnd, output: output.writeEnd,
      errors: errors.writeEnd)
    input.closeReadEnd()
    output.closeWriteEnd()
    errors.closeWriteEnd()
    for end in [input.writeEnd, output.readEnd, errors.readEnd] { ProgramPipe.makeNonBlocking(end) }
  }

  deinit { stop(patience: .zero) }

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
    return unsent.isEmpty
  }

  /// Takes in what the program has written since.
  func receive() {
    while isOutputOpen, let bytes = output.read() {
      if bytes.isEmpty { isOutputOpen = false }
      received += bytes
      if received.count - scanned > Self.lineLimit { isOutputOpen = false }
    }
    receiveErrors()
  }

  func receiveErrors() {
    while areErrorsOpen, let bytes = errors.read() {
      if bytes.isEmpty { areErrorsOpen = false }
      errorTail += bytes
      if errorTail.count > Self.errorLimit { errorTail.removeFirst(errorTail.count - Self.errorLimit) }
    }
  }

  /// The next whole line of what was taken in.
  func nextLine() -> [UInt8]? {
    guard let end = received[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
      scanned = received.count
      return nil
    }
    let line = Array(received[..<end])
    received.removeSubrange(...end)
    scanned = 0
    return line
  }

  /// The last lines of standard error.
  func lastWords(_ count: Int = 8) -> [String] {
    receiveErrors()
    return String(decoding: errorTail, as: UTF8.self).split(whereSeparator: \.isNewline).suffix(count).map(String.init)
  }

  /// Waits until the program has written something, or takes what it is owed, at most so long.
  func wait(_ time: Interval) {
    var descriptors = [
      pollfd(fd: isOutputOpen ? output.readEnd : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: areErrorsOpen ? errors.readEnd : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: unsent.isEmpty ? -1 : input.writeEnd, events: Int16(POLLOUT), revents: 0),
    ]
    _ = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: max(0, time.milliseconds)))
    flush()
  }

  // MARK: The end

  /// Notices that the program has ended.
  ///
  /// - Returns: how, or nil while it runs.
  func reap() -> Ending? {
    if ending == nil { collect(options: WNOHANG) }
    return ending
  }

  /// Waits a moment for the end of a program that has closed its output: the one comes just before the other.
  func awaitEnd() -> Ending? {
    let start = MonotonicClock.now
    while reap() == nil, MonotonicClock.now - start < .milliseconds(200) { usleep(1_000) }
    return ending
  }

  private func collect(options: Int32) {
    var status: Int32 = 0
    var result: pid_t = 0
    repeat { result = waitpid(process, &status, options) } while result < 0 && errno == EINTR
    guard result == process else { return }
    let signal = status & 0x7F
    ending = signal != 0 ? .signal(signal) : .exit(status >> 8 & 0xFF)
  }

  /// Says that nothing more comes, which ends a well-behaved program.
  func closeInput() { input.closeWriteEnd() }

  /// Asks the program to end, gives it so long, and then ends it with all it has started.
  func stop(patience: Interval) {
    closeInput()
    let start = MonotonicClock.now
    while reap() == nil, MonotonicClock.now - start < patience {
      receive()
      while nextLine() != nil {}
      wait(.milliseconds(isOutputOpen ? 50 : 5))
      if !isOutputOpen, !areErrorsOpen { usleep(5_000) }
    }
    if reap() == nil {
      kill(-process, SIGKILL)
      kill(process, SIGKILL)
      collect(options: 0)
    }
    kill(-process, SIGKILL)
    space?.killEverybody()
  }
}
