internal import CNamespace
internal import CallCore
internal import ExternalRecords
internal import Glibc

/// A network namespace: a separate network stack for the programs started in it, connected only by its tunnels.
///
/// Only descriptors and processes refer to it, so the kernel removes it and its contents when this object and the
/// programs are gone, even after a crash.
final class NetworkNamespace {
  let descriptor: Int32
  /// The folder for the programs' files; removed if this process is killed.
  let folder: String?

  init(folder: String? = nil) throws(ExternalError) {
    self.folder = folder
    let descriptor = callsim_namespace_create()
    guard descriptor >= 0 else {
      throw ExternalError(
        .unavailable, "no network namespace can be made: \(ExternalError.text(ofCode: descriptor)); it takes root")
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func openTunnel(_ name: String) throws(ExternalError) -> Tunnel {
    let tunnel = callsim_namespace_open_tunnel(descriptor, name)
    guard tunnel >= 0 else {
      let reason = ExternalError.text(ofCode: tunnel)
      throw ExternalError(.unavailable, "no TUN device can be made: \(reason); it takes root and /dev/net/tun")
    }
    return Tunnel(name: name, descriptor: tunnel)
  }

  /// Sets a kernel parameter below `net`; ignores one that this kernel does not have.
  func set(_ parameter: String, to value: String) {
    _ = callsim_namespace_write(descriptor, "/proc/sys/net/\(parameter)", value)
  }

  /// Runs `ip -batch` with these lines and waits for it.
  func configure(_ lines: [String]) throws(ExternalError) {
    guard !lines.isEmpty else { return }
    let ip = try ChildProgram(["ip", "-batch", "-"], environment: ChildProgram.inheritedEnvironment, in: self)
    for line in lines { ip.send(line) }
    ip.stop(timeout: .seconds(10))
    guard ip.ending != .exit(0) else { return }
    let words = ProgramAccount.last(8, of: ip.account(name: "ip", ending: nil).errors)
    throw ExternalError(.harness, "ip refused to set up an interface: \(words.joined(separator: "; "))")
  }
}
