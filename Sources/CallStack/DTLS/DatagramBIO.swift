internal import COpenSSL
internal import CallCore

/// The datagrams between a connection and its BIO: at most one in, any number out.
struct DatagramExchange {
  /// The received datagram, until libssl reads it; borrowed for the duration of one call.
  var incoming: UnsafeRawBufferPointer?
  /// Datagrams to send.
  var outgoing: [[UInt8]] = []

  /// Takes the datagrams to send, and merges neighbours that fit into one (RFC 6347 section 4.1.1). libssl first sends
  /// a flight in few datagrams, but retransmits it in one per message, each of which can be lost.
  mutating func takeOutgoing(upTo size: Int) -> [[UInt8]] {
    var packed: [[UInt8]] = []
    for datagram in outgoing {
      if let last = packed.indices.last, packed[last].count + datagram.count <= size {
        packed[last] += datagram
      } else {
        packed.append(datagram)
      }
    }
    outgoing.removeAll()
    return packed
  }
}

/// A BIO that writes and reads whole datagrams. OpenSSL's memory BIO would merge them.
enum DatagramBIO {
  /// Makes a BIO.
  ///
  /// - Parameter connection: outlives the BIO; both belong to the same `SSL`.
  static func make(for connection: Connection) -> OpaquePointer {
    guard let bio = BIO_new(method) else { fatalError("OpenSSL cannot make a BIO") }
    BIO_set_data(bio, Unmanaged.passUnretained(connection).toOpaque())
    BIO_set_init(bio, 1)
    return bio
  }

  nonisolated(unsafe) private static let method: OpaquePointer = {
    let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
    guard let method = BIO_meth_new(type, "sans-IO datagram") else { fatalError("OpenSSL cannot make a BIO method") }
    BIO_meth_set_write(method) { bio, bytes, count in
      guard let connection = connection(of: bio), let bytes, count > 0 else { return 0 }
      if Defect.handshakeIgnoresPathMTU.isPlanted, let last = connection.exchange.outgoing.indices.last {
        connection.exchange.outgoing[last] += UnsafeRawBufferPointer(start: bytes, count: Int(count))
        return count
      }
      connection.exchange.outgoing.append([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count))))
      return count
    }
    BIO_meth_set_read(method) { bio, bytes, capacity in
      guard let connection = connection(of: bio), let bytes, let datagram = connection.exchange.incoming else {
        COpenSSL_BIO_retry_read(bio)
        return -1
      }
      connection.exchange.incoming = nil
      let count = min(datagram.count, Int(max(0, capacity)))
      UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: datagram[..<count]))
      return Int32(count)
    }
    BIO_meth_set_ctrl(method) { _, command, _, _ in
      // All other commands, including MTU queries, return 0: there is no kernel below.
      command == BIO_CTRL_FLUSH || command == BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT ? 1 : 0
    }
    return method
  }()

  private static func connection(of bio: OpaquePointer?) -> Connection? {
    BIO_get_data(bio).map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
  }
}
