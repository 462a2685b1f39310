internal import Foundation

/// Starts programs whose streams are the caller's.
enum ChildProcess {
  struct Failure: Error { var message: String }

  /// Starts a program in a process group of its own: Ctrl-C reaches the parent alone.
  ///
  /// - Parameter input: its standard input; nil for an empty one.
  static func spawn(
    _ words: [String], environment: [String], input: Int32?, output: Int32, errors: Int32
  ) throws(Failure) -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)
    var vector: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    var environment: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
      for pointer in vector + environment { free(pointer) }
    }
    vector.append(nil)
    environment.append(nil)
    var child: pid_t = 0
    let status = posix_spawn(&child, words[0], &actions, &attributes, vector, environment)
    guard status == 0 else { throw Failure(message: String(cString: strerror(status))) }
    return child
  }

  /// The environment of this process, sorted.
  static var environment: [String] {
    ProcessInfo.processInfo.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }
}
