internal import CallCore
internal import Glibc

/// A TUN device: IP packets, one a read and one a write.
final class Tunnel {
  let name: String
  let descriptor: Int32
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

  init(name: String, descriptor: Int32) {
    self.name = name
    self.descriptor = descriptor
  }

  deinit {
    buffer.deallocate()
    close(descriptor)
  }

  /// Reads packets until none is left, at most `limit`, so that nobody can keep the caller here.
  func readPackets(limit: Int = 256, _ body: (RawSpan) -> Void) {
    for _ in 0..<limit {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
    }
  }

  /// - Returns: false when the kernel did not take it: the device is down, or its queue is full.
  func write(_ packet: [UInt8]) -> Bool {
    packet.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == packet.count
  }
}
