internal import ExternalRecords
internal import Glibc

/// Whether this machine can run programs on simulated networks.
public enum ExternalSupport {
  /// The variable that names further variables of our environment that programs are given: `CHROMIUM,PROXY`.
  public static let passVariable = "CALLSIM_PASS_ENV"

  /// What is missing, in words for a person; nil when nothing is.
  public static var problem: String? {
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

  /// Why the program of a command cannot be started; nil when it can.
  public static func problem(with command: [String]) -> String? {
    guard let program = command.first, find(program) == nil else { return nil }
    return program.contains("/")
      ? "'\(program)' is not there, or not a program; the path is looked up from the folder callsim runs in"
      : "there is no program '\(program)'"
  }

  /// Where a program lies, as a shell would find it.
  private static func find(_ program: String) -> String? {
    if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in path.split(separator: ":") where access("\(folder)/\(program)", X_OK) == 0 {
      return "\(folder)/\(program)"
    }
    return nil
  }
}
