internal import CallCore
internal import Foundation
internal import ScenarioFormat
internal import VirtualPeer

#if canImport(CLinux)
  internal import CLinux
#endif

/// A worker as its parent sees it: a process with three pipes.
final class WorkerProcess {
  /// The cause of death of a worker that was not told to end.
  enum Death: Equatable {
    case signal(Int32)
    case exit(Int32)

    /// Whether somebody else ended the process, such as a machine without memory or the end of a job's time.
    var isFromOutside: Bool {
      switch self {
      case .signal(let number): [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(number)
      case .exit: false
      }
    }

    var description: String {
      switch self {
      case .signal(let number):
        "ended by signal \(number)\(strsignal(number).map { " (\(String(cString: $0)))" } ?? "")"
      case .exit(let code): "ended with exit code \(code)"
      }
    }
  }

  /// The number of bytes of standard error that are kept.
  private static let errorLimit = 16_384

  let identifier: pid_t
  let output: Int32
  let errors: Int32
  private let input: Int32
  private var received: [UInt8] = []
  private var errorTail: [UInt8] = []
  private var isReaped = false
  /// The hash of the scenario that the worker received last.
  private var knownSource: UInt64?

  init(executable: String, arguments: [String]) throws {
    let input = try ChildPipe()
    let output = try ChildPipe()
    let errors = try ChildPipe()
    defer { for end in [input.readEnd, output.writeEnd, errors.writeEnd] { close(end) } }
    do throws(ChildProcess.Failure) {
      identifier = try ChildProcess.spawn(
        [executable] + arguments, environment: Self.environment, input: input.readEnd, output: output.writeEnd,
        errors: errors.writeEnd)
    } catch {
      for end in [input.writeEnd, output.readEnd, errors.readEnd] { close(end) }
      throw JobError(message: "cannot start a worker (\(executable)): \(error.message)")
    }
    self.input = input.writeEnd
    self.output = output.readEnd
    self.errors = errors.readEnd
  }

  /// The environment without deterministic hashing: each worker has a random hash seed, which exposes any order that
  /// depends on hashing.
  private static var environment: [String] {
    ChildProcess.environment.filter { !$0.hasPrefix("SWIFT_DETERMINISTIC_HASHING=") }
  }

  deinit {
    end()
    for end in [input, output, errors] { close(end) }
  }

  func send(_ job: RunJob) {
    received.removeAll()
    errorTail.removeAll()
    // A failed write is ignored: the death of a worker is noticed at the end of its output.
    let json = job.json(hasFiles: job.source.hash != knownSource)
    knownSource = job.source.hash
    ChildPipe.writeAll(Array((json.description + "\n").utf8), to: input)
  }

  /// Reads the available output.
  ///
  /// - Returns: a complete line if there is one; `isOpen` is false when the worker has closed its end.
  func receive() -> (line: [UInt8]?, isOpen: Bool) {
    guard let bytes = ChildPipe.readSome(from: output) else { return (nil, false) }
    received += bytes
    guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return (nil, true) }
    let line = Array(received[..<end])
    received.removeSubrange(...end)
    return (line, true)
  }

  /// Reads the available standard error and keeps its end.
  func receiveErrors() -> Bool {
    guard let bytes = ChildPipe.readSome(from: errors) else { return false }
    errorTail += bytes
    if errorTail.count > Self.errorLimit { errorTail.removeFirst(errorTail.count - Self.errorLimit) }
    return true
  }

  /// Returns the last lines of standard error; after a trap, its message and the lines after it.
  func lastWords(_ count: Int = 12) -> [String] {
    while receiveErrors() {}
    let text = String(decoding: errorTail, as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline).map(String.init)
    if let trap = lines.firstIndex(where: { $0.contains("Fatal error") }) { return Array(lines[trap...].prefix(count)) }
    return lines.suffix(count)
  }

  /// The memory of the process in bytes; nil when the system does not report it.
  var memory: Int? {
    guard let text = try? String(contentsOfFile: "/proc/\(identifier)/statm", encoding: .utf8) else { return nil }
    // The second field is the resident set size in pages (proc(5)).
    let words = text.split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { return nil }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The processor time of the process so far; nil when the system does not report it.
  var processorTime: Interval? {
    guard let text = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    // After the command the third field comes first; utime and stime are the 14th and the 15th, in ticks (proc(5)).
    let words = text[text.index(after: end)...].split(separator: " ")
    guard words.count > 12, let user = Int64(words[11]), let system = Int64(words[12]) else { return nil }
    return .milliseconds((user + system) * 1_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
  }

  /// Waits for the exit of a worker whose output has ended.
  func reap() -> Death {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    isReaped = true
    let signal = status & 0x7F
    return signal != 0 ? .signal(signal) : .exit(status >> 8 & 0xFF)
  }

  /// Kills the process, and the process groups of the programs that it waits for.
  func end() {
    guard !isReaped else { return }
    let children = children
    kill(identifier, SIGKILL)
    for child in children { kill(-child, SIGKILL) }
    _ = reap()
  }

  /// The processes that it has started; empty when the system does not report them.
  private var children: [pid_t] {
    let text = try? String(contentsOfFile: "/proc/\(identifier)/task/\(identifier)/children", encoding: .utf8)
    return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
  }
}

/// A pipe that children do not inherit by accident.
struct ChildPipe {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    // At once, where the system can: another thread may start a child at any time, and whoever has the write end keeps
    // the pipe from its end.
    #if canImport(CLinux)
      let status = pipe2(&ends, O_CLOEXEC)
    #else
      let status = pipe(&ends)
      for end in ends where status == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #endif
    guard status == 0 else { throw JobError(message: "no pipe: \(String(cString: strerror(errno)))") }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  /// Reads some bytes.
  ///
  /// - Returns: nil at the end of the stream.
  static func readSome(from end: Int32) -> [UInt8]? {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
      repeat { count = read(end, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      initialized = max(0, count)
    }
    return count > 0 ? bytes : nil
  }

  static func writeAll(_ bytes: [UInt8], to end: Int32) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { write(end, $0.baseAddress! + offset, $0.count - offset) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      offset += count
    }
  }
}
