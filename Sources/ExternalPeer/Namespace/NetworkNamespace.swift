internal import CNamespace
internal import Glibc

/// A network namespace: a network stack of its own for the programs started in it, with no way out but its tunnels.
///
/// It has no name and is held by a descriptor, so the kernel takes it away with everything in it when this object and
/// the programs are gone, also after a crash.
final class NetworkNamespace {
  private let descriptor: Int32
  /// Which namespace it is, as `/proc/<pid>/ns/net` of those in it says.
  private let identity: String

  init() throws(ExternalError) {
    let descriptor = callsim_namespace_create()
    guard descriptor >= 0 else {
      throw ExternalError(
        .unavailable, "no network namespace can be made: \(ExternalError.text(ofCode: descriptor)); it takes root")
    }
    self.descriptor = descriptor
    identity = Self.target(of: "/proc/self/fd/\(descriptor)") ?? ""
  }

  deinit {
    killEverybody()
    close(descriptor)
  }

  func openTunnel(_ name: String) throws(ExternalError) -> Tunnel {
    let tunnel = callsim_namespace_open_tunnel(descriptor, name)
    guard tunnel >= 0 else {
      let reason = ExternalError.text(ofCode: tunnel)
      throw ExternalError(.unavailable, "no TUN device can be made: \(reason); it takes root and /dev/net/tun")
    }
    return Tunnel(name: name, descriptor: tunnel)
  }

  /// Sets a kernel parameter below `net`; one that this kernel does not have is left alone.
  func set(_ parameter: String, to value: String) {
    _ = callsim_namespace_write(descriptor, "/proc/sys/net/\(parameter)", value)
  }

  /// Starts a program, in a namespace or in our own.
  ///
  /// - Returns: its process number.
  static func spawn(
    _ command: [String], in space: NetworkNamespace?, environment: [String], input: Int32, output: Int32, errors: Int32
  ) throws(ExternalError) -> pid_t {
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
    defer { for pointer in arguments + variables { free(pointer) } }
    arguments.append(nil)
    variables.append(nil)
    let result = callsim_namespace_spawn(space?.descriptor ?? -1, arguments, variables, input, output, errors)
    guard result > 0 else {
      let program = command.first ?? ""
      throw ExternalError(.unavailable, "'\(program)' cannot be started: \(ExternalError.text(ofCode: result))")
    }
    return result
  }

  /// Runs `ip` with a line for each thing to do, and waits for it.
  func configure(_ lines: [String]) throws(ExternalError) {
    guard !lines.isEmpty else { return }
    let (input, errors) = (try ProgramPipe(), try ProgramPipe())
    let child = try Self.spawn(
      ["ip", "-batch", "-"], in: self, environment: ChildProgram.inheritedEnvironment, input: input.readEnd,
      output: errors.writeEnd, errors: errors.writeEnd)
    input.closeReadEnd()
    errors.closeWriteEnd()
    input.write(Array((lines.joined(separator: "\n") + "\n").utf8))
    input.closeWriteEnd()
    let words = errors.readAll()
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else {
      let said = String(decoding: words, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: "; ")
      throw ExternalError(.harness, "ip refused to set up an interface: \(said)")
    }
  }

  /// Kills whatever still runs here: programs start others, which outlive them.
  func killEverybody() {
    guard !identity.isEmpty else { return }
    for name in Self.names(in: "/proc") {
      guard let process = pid_t(name), process != getpid(), Self.target(of: "/proc/\(name)/ns/net") == identity else {
        continue
      }
      kill(process, SIGKILL)
    }
  }

  /// The names in a folder.
  static func names(in path: String) -> [String] {
    guard let folder = opendir(path), let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      // An entry is as long as its name: a whole `dirent` reaches past the end of what was read.
      names.append(String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)))
    }
    return names
  }

  private static func target(of link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = readlink(link, &buffer, buffer.count)
    // A descriptor's link and a process's link name the same namespace: net:[4026532008].
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
