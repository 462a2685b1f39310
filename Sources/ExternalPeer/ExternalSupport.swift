internal import ExternalRecords
internal import Glibc

/// Checks whether this machine can run programs on simulated networks.
package enum ExternalSupport {
  /// The environment variable that lists further variables to pass to programs, for example `CHROMIUM,PROXY`.
  package static let passVariable = "CALLSIM_PASS_ENV"

  /// A message about a missing prerequisite; nil if nothing is missing.
  package static var problem: String? {
    do throws(ExternalError) {
      guard access("/dev/net/tun", F_OK) == 0 else {
        return
          "there is no /dev/net/tun on this machine; it needs Linux with the tun module, and a container needs the device"
      }
      guard find("ip") != nil else { return "there is no program 'ip'; install iproute2" }
      let space = try NetworkNamespace()
      let tunnel = try space.openTunnel("probe0")
      try space.configure(["link set dev \(tunnel.name) up"])
      return nil
    } catch {
      return error.description
    }
  }

  /// Returns a message if the program of a command cannot be started, else nil.
  package static func problem(with command: [String]) -> String? {
    guard let program = command.first, find(program) == nil else { return nil }
    return program.contains("/")
      ? "'\(program)' does not exist or is not executable; the path is relative to the folder in which callsim runs"
      : "there is no program '\(program)'"
  }

  /// Returns the path of a program, as a shell would find it.
  private static func find(_ program: String) -> String? {
    if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in path.split(separator: ":") where access("\(folder)/\(program)", X_OK) == 0 {
      return "\(folder)/\(program)"
    }
    return nil
  }
}
