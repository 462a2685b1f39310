import CallCore
import DTLS
import StackWorlds

/// DTLS records made or taken apart by hand.
enum Records {
  /// The first datagram of a client.
  static let clientHello: [UInt8] = {
    let call = DTLSPair()
    try? call.startClient()
    return call.sent[0].bytes
  }()

  static func record(type: UInt8, version: UInt16 = 0xFEFD, sequence: UInt64 = 0, _ body: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [type]
    bytes.append(bigEndian: version)
    bytes.append(bigEndian: sequence)
    bytes.append(bigEndian: UInt16(body.count))
    return bytes + body
  }

  /// Cuts a datagram that holds one unfragmented handshake message into fragments of at most `size` bytes.
  static func fragmented(_ datagram: [UInt8], size: Int) -> [[UInt8]] {
    let message = Array(datagram[25...])
    return stride(from: 0, to: message.count, by: size).enumerated().map { number, offset in
      let piece = Array(message[offset..<min(offset + size, message.count)])
      var body = Array(datagram[13..<19])  // type, length, message_seq
      body += [0, UInt8(offset >> 8), UInt8(offset & 255), 0, UInt8(piece.count >> 8), UInt8(piece.count & 255)]
      return record(type: 22, version: 0xFEFF, sequence: UInt64(number), body + piece)
    }
  }
}
