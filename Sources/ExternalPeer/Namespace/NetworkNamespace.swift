internal import CNamespace
internal import CallCore
internal import ExternalRecords
internal import Glibc

/// A network namespace: a network stack of its own for the programs started in it, with no way out but its tunnels.
///
/// It has no name and is held by a descriptor, so the kernel takes it away with everything in it when this object and
/// the programs are gone, also after a crash.
final class NetworkNamespace {
  let descriptor: Int32
  /// Where its programs keep their files; removed with them should this process be killed.
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

  /// Sets a kernel parameter below `net`; one that this kernel does not have is left alone.
  func set(_ parameter: String, to value: String) {
    _ = callsim_namespace_write(descriptor, "/proc/sys/net/\(parameter)", value)
  }

  /// Runs `ip` with a line for each thing to do, and waits for it.
  func configure(_ lines: [String]) throws(ExternalError) {
    guard !lines.isEmpty else { return }
    let ip = try ChildProgram(["ip", "-batch", "-"], environment: ChildProgram.inheritedEnvironment, in: self)
    for line in lines { ip.send(line) }
    ip.stop(patience: .seconds(10))
    guard ip.ending != .exit(0) else { return }
    let words = ProgramAccount.last(8, of: ip.account(name: "ip", ending: nil).errors)
    throw ExternalError(.harness, "ip refused to set up an interface: \(words.joined(separator: "; "))")
  }
}
