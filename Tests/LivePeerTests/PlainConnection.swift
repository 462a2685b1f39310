import CallCore
import Glibc

@testable import LivePeer

/// A TCP connection of a program's own, which may choose its port and end it as it likes.
final class PlainConnection {
  private(set) var port: UInt16 = 0
  private var descriptor: Int32

  init(to server: Endpoint, from port: UInt16 = 0) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var local = Self.address(port)
    var remote = Self.address(server.port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = withUnsafeBytes(of: &local) { local in
      withUnsafeBytes(of: &remote) { remote in
        bind(descriptor, local.assumingMemoryBound(to: sockaddr.self).baseAddress, size) == 0
          && connect(descriptor, remote.assumingMemoryBound(to: sockaddr.self).baseAddress, size) == 0
      }
    }
    guard isOpen else { throw SystemError("connect") }
    var length = size
    _ = withUnsafeMutableBytes(of: &local) { local in
      getsockname(descriptor, local.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
    }
    self.port = UInt16(bigEndian: local.sin_port)
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  /// Whole answers to a Binding request that wait to be read: none, or one.
  var receivedCount: Int {
    var bytes = [UInt8](repeating: 0, count: 1_500)
    return recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) > 20 ? 1 : 0
  }

  /// Ends it with an RST.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    Glibc.close(descriptor)
    descriptor = -1
  }
}
