import CallCore
import Formats
import LivePeer
import SimNet

/// A capture of a live call's datagrams: a file that Wireshark opens and, with its keys, decrypts.
final class LiveCapture: LiveTap {
  private let file: FileSink
  private var writer: PcapngWriter
  /// The interfaces of the capture, by local address.
  private var interfaces: [(address: IPAddress, interface: PcapngWriter.Interface)] = []

  init(path: String) throws(FileError) {
    let file = try FileSink(path: path)
    self.file = file
    // Instants are Unix times here, so the clock starts at zero.
    writer = PcapngWriter(wallClock: WallClock(unixNanosecondsAtStart: 0)) { file.write($0) }
  }

  func close() throws(FileError) { try file.close() }

  func sent(_ datagram: RawSpan, on path: Path, unixNanoseconds: Int64) {
    let interface = interface(at: path.local.address)
    writer.write(
      datagram, source: path.local, destination: path.remote, protocol: .udp, ecn: path.ecn, on: interface,
      direction: .outbound, at: Instant(nanoseconds: unixNanoseconds))
  }

  func received(_ datagram: RawSpan, on path: Path, unixNanoseconds: Int64) {
    let interface = interface(at: path.local.address)
    writer.write(
      datagram, source: path.remote, destination: path.local, protocol: .udp, ecn: path.ecn, on: interface,
      direction: .inbound, at: Instant(nanoseconds: unixNanoseconds))
  }

  func learnt(keyLog line: String) { writer.writeSecrets(keyLog: line.hasSuffix("\n") ? line : line + "\n") }

  private func interface(at address: IPAddress) -> PcapngWriter.Interface {
    if let known = interfaces.first(where: { $0.address == address }) { return known.interface }
    let added = writer.addInterface(name: "\(address)")
    interfaces.append((address, added))
    return added
  }
}
