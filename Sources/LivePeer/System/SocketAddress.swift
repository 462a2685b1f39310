internal import CLinux
internal import CallCore
internal import Glibc

/// A `sockaddr_storage` in its own memory, read and written without allocation.
final class SocketAddress {
  private let storage = UnsafeMutableRawPointer.allocate(
    byteCount: MemoryLayout<sockaddr_storage>.size, alignment: MemoryLayout<sockaddr_storage>.alignment)

  static let capacity = socklen_t(MemoryLayout<sockaddr_storage>.size)

  init() { storage.initializeMemory(as: UInt8.self, repeating: 0, count: Int(Self.capacity)) }

  deinit { storage.deallocate() }

  var raw: UnsafeMutableRawPointer { storage }
  var pointer: UnsafeMutablePointer<sockaddr> { storage.assumingMemoryBound(to: sockaddr.self) }

  /// - Parameter scope: the interface of a link-local IPv6 address; ignored for others.
  /// - Returns: the length of the address in bytes.
  func set(_ endpoint: Endpoint, scope: UInt32) -> socklen_t {
    guard endpoint.address.isIPv6 else {
      var v4 = sockaddr_in()
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = endpoint.port.bigEndian
      v4.sin_addr.s_addr = endpoint.address.v4Bits.bigEndian
      storage.storeBytes(of: v4, as: sockaddr_in.self)
      return socklen_t(MemoryLayout<sockaddr_in>.size)
    }
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_port = endpoint.port.bigEndian
    v6.sin6_scope_id = endpoint.address.isLinkLocal ? scope : 0
    storage.storeBytes(of: v6, as: sockaddr_in6.self)
    let address = storage + MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)!
    address.storeBytes(of: endpoint.address.high.bigEndian, as: UInt64.self)
    address.storeBytes(of: endpoint.address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    return socklen_t(MemoryLayout<sockaddr_in6>.size)
  }

  /// The stored endpoint, or nil for other address families.
  var endpoint: Endpoint? { Self.endpoint(at: storage) }

  static func endpoint(at memory: UnsafeRawPointer) -> Endpoint? {
    switch Int32(memory.load(as: sa_family_t.self)) {
    case AF_INET:
      let v4 = memory.loadUnaligned(as: sockaddr_in.self)
      return Endpoint(IPAddress(v4: UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
    case AF_INET6:
      let port = UInt16(bigEndian: memory.loadUnaligned(as: sockaddr_in6.self).sin6_port)
      let address = memory + MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)!
      let high = UInt64(bigEndian: address.loadUnaligned(as: UInt64.self))
      let low = UInt64(bigEndian: address.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      return Endpoint(IPAddress(v6: high, low), port: port)
    default: return nil
    }
  }
}
