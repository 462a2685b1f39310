internal import CallCore
internal import Glibc

/// A TUN device: each read and each write transfers one IP packet.
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

  /// Reads packets until none is left, at most `limit`: a fast sender must not block the caller.
  func readPackets(limit: Int = 256, _ body: (RawSpan) -> Void) {
    for _ in 0..<limit {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
    }
  }

  /// - Returns: false if the kernel did not accept the packet: the device is down, or its queue is full.
  func write(_ packet: [UInt8]) -> Bool {
    packet.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == packet.count
  }
}
