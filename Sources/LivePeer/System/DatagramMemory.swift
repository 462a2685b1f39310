internal import CLinux
internal import CallCore
internal import Glibc

/// The buffers for the datagrams of one loop, allocated once.
final class DatagramMemory {
  /// The size of the buffer in bytes, more than any UDP payload.
  private static let capacity = 65_536
  private static let controlCapacity = 128

  let address = SocketAddress()
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  private let control = UnsafeMutableRawBufferPointer.allocate(byteCount: controlCapacity, alignment: 16)
  private let vector = UnsafeMutablePointer<iovec>.allocate(capacity: 1)
  private let message = UnsafeMutablePointer<msghdr>.allocate(capacity: 1)

  init() {
    vector.initialize(to: iovec())
    message.initialize(to: msghdr())
  }

  deinit {
    bytes.deallocate()
    control.deallocate()
    vector.deallocate()
    message.deallocate()
  }

  /// Receives the next datagram of a socket; returns nil if there is none.
  func receive(from descriptor: Int32, at local: Endpoint) -> (length: Int, path: Path)? {
    vector.pointee = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
    prepare(addressLength: SocketAddress.capacity, controlLength: control.count)
    let length = recvmsg(descriptor, message, 0)
    guard length >= 0, let remote = address.endpoint else { return nil }
    return (length, Path(local: local, remote: remote, ecn: receivedECN))
  }

  enum Read {
    case bytes(Int)
    case nothing
    /// The other side has closed, or the connection is broken.
    case end
  }

  /// Receives the next bytes of a stream.
  func receive(from descriptor: Int32) -> Read {
    let length = recv(descriptor, bytes.baseAddress, bytes.count, 0)
    if length > 0 { return .bytes(length) }
    return length < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
  }

  /// Returns the bytes that were received last.
  func datagram(_ length: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<length]) }

  func send(_ datagram: UnsafeRawBufferPointer, from descriptor: Int32, to length: socklen_t, ecn: ECN, isIPv6: Bool) {
    vector.pointee = iovec(
      iov_base: UnsafeMutableRawPointer(mutating: datagram.baseAddress), iov_len: datagram.count)
    prepare(addressLength: length, controlLength: ecn == .notECT ? 0 : writeControl(ecn, isIPv6: isIPv6))
    _ = sendmsg(descriptor, message, Int32(MSG_NOSIGNAL))
  }

  private func prepare(addressLength: socklen_t, controlLength: Int) {
    message.pointee.msg_name = address.raw
    message.pointee.msg_namelen = addressLength
    message.pointee.msg_iov = vector
    message.pointee.msg_iovlen = 1
    message.pointee.msg_control = controlLength == 0 ? nil : control.baseAddress
    message.pointee.msg_controllen = controlLength
    message.pointee.msg_flags = 0
  }

  // MARK: Control messages: cmsg(3), whose macros Swift does not import

  private static let headerSize = MemoryLayout<cmsghdr>.size

  /// The ECN field: the low two bits of the type of service or traffic class.
  private var receivedECN: ECN {
    var offset = 0
    let length = min(message.pointee.msg_controllen, control.count)
    while offset + Self.headerSize < length {
      let header = control.load(fromByteOffset: offset, as: cmsghdr.self)
      guard header.cmsg_len > Self.headerSize, offset + header.cmsg_len <= length else { return .notECT }
      let isClass =
        header.cmsg_level == Int32(IPPROTO_IP) && header.cmsg_type == IP_TOS
        || header.cmsg_level == Int32(IPPROTO_IPV6) && header.cmsg_type == IPV6_TCLASS
      // One byte or an int; on little-endian machines the first byte has the low bits in both cases.
      if isClass { return ECN(rawValue: control[offset + Self.headerSize] & 3) ?? .notECT }
      offset += (header.cmsg_len + 7) & ~7
    }
    return .notECT
  }

  private func writeControl(_ ecn: ECN, isIPv6: Bool) -> Int {
    var header = cmsghdr()
    header.cmsg_len = Self.headerSize + MemoryLayout<Int32>.size
    header.cmsg_level = Int32(isIPv6 ? IPPROTO_IPV6 : IPPROTO_IP)
    header.cmsg_type = isIPv6 ? IPV6_TCLASS : IP_TOS
    control.storeBytes(of: header, as: cmsghdr.self)
    control.storeBytes(of: Int32(ecn.rawValue), toByteOffset: Self.headerSize, as: Int32.self)
    return (header.cmsg_len + 7) & ~7
  }
}
