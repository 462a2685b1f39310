internal import CNamespace
internal import CallCore
internal import Glibc

/// Relations between processes: the end of this one with its parent, and information on others from /proc.
package enum ProcessTree {
  /// Makes the kernel kill this process when its parent ends for any reason.
  ///
  /// - Returns: false if the parent has already ended.
  package static func endWithParent() -> Bool { callsim_end_with_parent() != 0 }

  /// Returns the processes that the first thread of a process has started.
  static func children(of process: pid_t) -> [pid_t] { children(of: process, thread: process) }

  static func children(of process: pid_t, thread: pid_t) -> [pid_t] {
    text(of: "/proc/\(process)/task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
  }

  static func threads(of process: pid_t) -> [pid_t] {
    guard let folder = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(folder) }
    var threads: [pid_t] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let thread = pid_t(name) { threads.append(thread) }
    }
    return threads
  }

  /// Returns the time for which a thread was ready but not running since it began (Linux's schedstat); nil if unknown.
  static func waited(_ process: pid_t, thread: pid_t) -> Interval? {
    let numbers = text(of: "/proc/\(process)/task/\(thread)/schedstat").split(separator: " ")
    guard numbers.count == 3, let waited = Int64(numbers[1]) else { return nil }
    return Interval(nanoseconds: waited)
  }

  /// Returns the niceness of a thread (nice(2)), from -20 to 19.
  static func niceness(of thread: pid_t) -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread)) }

  /// Returns whether a signal or a debugger has stopped the process (proc_pid_stat(5)).
  static func isStopped(_ process: pid_t) -> Bool {
    // The process name before the state may contain any character, including parentheses.
    let stat = text(of: "/proc/\(process)/stat")
    guard let name = stat.lastIndex(of: ")") else { return false }
    return stat[name...].dropFirst(2).first.map { "Tt".contains($0) } ?? false
  }

  /// Returns the time that a virtual machine's host took from each processor, by processor name (proc_stat(5)).
  static func stolen() -> [(processor: String, time: Interval)] {
    let ticks = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return text(of: "/proc/stat").split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 8, words[0].hasPrefix("cpu"), words[0] != "cpu" else { return nil }
      guard let stolen = Int64(words[8]) else { return nil }
      return (String(words[0]), Interval(nanoseconds: stolen * (1_000_000_000 / ticks)))
    }
  }

  /// Returns the contents of a small file; empty if it cannot be read, for example because the process has ended.
  private static func text(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }
}
